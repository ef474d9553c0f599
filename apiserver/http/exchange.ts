/** One request and its answer, with what the parts of the chain learn about it on the way. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import type { RequestKind } from '../flowcontrol/in-flight.js';
import type { RequestInfo, UserInfo } from '../request.js';
import { RequestScope, ServerStopping } from './request-scope.js';
import { parseTraceparent, type TraceContext } from './trace-context.js';

/** The connection of a request that asks to leave HTTP: everything after its head. */
export interface UpgradeSocket {
  readonly socket: Socket;
  readonly head: Buffer;
}

const maxAuditIdLength = 64;
/** Of most requests. Nobody changes it. */
const noQuery = new URLSearchParams();

export class Exchange {
  readonly scope = new RequestScope((reason) => {
    this.#cutOff(reason);
  });
  /** Names the request in audit, logs and the `Audit-Id` header; the client may choose it. */
  readonly auditId: string;
  readonly trace: TraceContext | undefined;
  /** Milliseconds since the epoch. */
  readonly receivedAt = Date.now();
  readonly #startedAt = performance.now();

  query: URLSearchParams = noQuery;
  info: RequestInfo | undefined;
  /** Who sent the request. */
  user: UserInfo | undefined;
  /** As whom it acts, if not as itself. */
  impersonated: UserInfo | undefined;
  body: Buffer = emptyBody;
  /** What authorization said, for the audit log. */
  decision: { readonly allowed: boolean; readonly reason: string } | undefined;
  readonly warnings: string[] = [];
  /** What admission tells the audit log. */
  readonly annotations = new Map<string, string>();
  /** As the body has it, where the path has none. */
  objectName: string | undefined;
  /** Bytes of the answer's body; of a stream, so far. */
  bytesWritten = 0;
  /** The answer's body, kept only if the audit log wants it. */
  keepResponse = false;
  responseChunks: readonly Buffer[] = [];
  /** The connection has left HTTP, and the answer was 101. */
  switched = false;
  /** The share of the server's capacity that it holds. */
  capacity: RequestKind | undefined;
  /** Is told how many events of a watch were sent. */
  countEvents: ((events: number) => void) | undefined;
  /** Ends its being counted among the long-running requests. */
  uncount: (() => void) | undefined;
  /** A fault of ours, for the log. */
  failure: unknown;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly upgrade: UpgradeSocket | undefined,
  ) {
    const given = request.headers['audit-id'];
    this.auditId =
      typeof given === 'string' && /^[\x21-\x7e]+$/.test(given) && given.length <= maxAuditIdLength
        ? given
        : randomUUID();
    this.trace = parseTraceparent(request.headers.traceparent);
  }

  /** An answer that is half written when its time is over can not be finished; one that ends by itself may. */
  #cutOff(reason: Error): void {
    if (this.response.headersSent && !(reason instanceof ServerStopping)) this.response.destroy();
  }

  /** Milliseconds since the request came. */
  get elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  get actor(): UserInfo | undefined {
    return this.impersonated ?? this.user;
  }

  warn(text: string): void {
    if (!this.warnings.includes(text)) this.warnings.push(text);
  }

  annotate(key: string, value: string): void {
    if (!this.annotations.has(key)) this.annotations.set(key, value);
  }
}

export const emptyBody: Buffer = Buffer.alloc(0);
