/** A request on its way through the server, whichever transport it came by. Handlers see only this. */

export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  /** Anything outside /api and /apis; the verb is then the lower-cased HTTP method. */
  | 'nonresource';

/** What the path and method ask for (kube-apiserver's RequestInfo). */
export interface RequestInfo {
  readonly verb: Verb;
  readonly method: string;
  readonly path: string;
  readonly isResource: boolean;
  /** '' for the core group. */
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly resource: string;
  readonly name: string | undefined;
  /** `status`, `console`, `vnc/screenshot`, `portforward/22/tcp`; undefined for the object itself. */
  readonly subresource: string | undefined;
}

export interface RequestContext {
  readonly info: RequestInfo;
  readonly user: UserInfo;
  readonly query: URLSearchParams;
  /** Lower-cased names; repeated headers keep only what `req.headers` keeps. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body, read whole and bounded (3 MiB); empty if there is none. */
  readonly body: Buffer;
  /** Aborts when the client goes away, the request times out or the server stops. */
  readonly signal: AbortSignal;
  /** Adds a `Warning: 299` header to the answer. */
  warn(text: string): void;
  /** Adds to what the audit log tells of the request: a qualified name and its value. The first value stays. */
  annotate?(key: string, value: string): void;
  /** For the audit log: the name of the object, where only the body has it. */
  nameObject?(name: string): void;
}

/** `chunks` are shared bytes of the cache where possible and are never changed. */
export interface BytesReply {
  readonly kind: 'bytes';
  readonly status: number;
  readonly contentType: string;
  readonly chunks: readonly Buffer[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer. */
export type Reply =
  | BytesReply
  | {
      /** A watch: written as it comes, with back pressure, until the source ends or the client leaves. */
      readonly kind: 'stream';
      readonly contentType: string;
      readonly chunks: AsyncIterable<readonly Buffer[]>;
    };

export type Handler = (context: RequestContext) => Promise<Reply>;
