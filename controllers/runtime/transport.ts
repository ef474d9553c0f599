/** HTTP/1.1 requests to an API server: TLS, credentials, keep-alive, errors. Knows no kinds. */
import http from 'node:http';
import https from 'node:https';
import type { Status } from '../../openapi/meta.js';
import { ConnectionError, StatusError } from './errors.js';

/**
 * Connections for all but watches. Each costs both ends tens of kilobytes, and a handshake costs as much as several requests: so a burst
 * waits for one that is open, and what is open is kept.
 */
const maxSockets = 16;

/** How to prove who we are. PEM texts. */
export interface Credentials {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Header value of `Authorization`. */
  readonly authorization?: string | undefined;
  readonly impersonate?: { readonly user: string; readonly groups: readonly string[] } | undefined;
}

export interface TransportOptions {
  /** `https://host:port`, perhaps with a path prefix; `http://` for a local proxy. */
  readonly server: string;
  /** Called before each request; caches by itself. The same object again means: nothing changed. */
  readonly credentials: () => Promise<Credentials>;
  readonly serverName?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  readonly userAgent: string;
  /** A request without any byte for so long fails. Milliseconds. */
  readonly requestTimeout: number;
  /** Larger answers are refused. */
  readonly maxBodyBytes: number;
}

export interface TransportRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: URLSearchParams;
  readonly contentType?: string;
  readonly body?: unknown;
  /** For a watch: overrides `requestTimeout`, as it is quiet for longer, and it has a connection for itself. */
  readonly inactivityTimeout?: number;
  readonly accept?: string;
}

interface Agents {
  readonly brief: http.Agent;
  readonly watches: http.Agent;
}

export class Transport {
  readonly #base: URL;
  #agents: Agents | undefined;
  #agentsFor: Credentials | undefined;

  constructor(private readonly options: TransportOptions) {
    this.#base = new URL(options.server);
  }

  /** The parsed JSON of a successful answer. */
  async json(request: TransportRequest, signal?: AbortSignal): Promise<unknown> {
    const bytes = await this.bytes(request, signal);
    try {
      return parseJson(bytes.toString());
    } catch (error) {
      throw translate(error, request, signal);
    }
  }

  /** The body of a successful answer. */
  async bytes(request: TransportRequest, signal?: AbortSignal): Promise<Buffer> {
    const response = await this.stream(request, signal);
    try {
      return await this.#read(response);
    } catch (error) {
      throw translate(error, request, signal);
    }
  }

  /** A successful answer, its body yet to be read. */
  async stream(request: TransportRequest, signal?: AbortSignal): Promise<http.IncomingMessage> {
    signal?.throwIfAborted();
    const credentials = await this.options.credentials();
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
    const attempt = (): Promise<http.IncomingMessage> => this.#send(request, body, credentials, signal);
    try {
      const response = await attempt().catch((error: unknown) => {
        // The server may close an idle connection just as we use it. Reads may simply be sent again.
        if (request.method === 'GET' && error instanceof StaleConnection) return attempt();
        throw error;
      });
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300) return response;
      throw toStatusError(status, response.headers, (await this.#read(response)).toString());
    } catch (error) {
      throw translate(error, request, signal);
    }
  }

  close(): void {
    this.#agents?.brief.destroy();
    this.#agents?.watches.destroy();
    this.#agents = undefined;
    this.#agentsFor = undefined;
  }

  #send(
    request: TransportRequest,
    body: Buffer | undefined,
    credentials: Credentials,
    signal: AbortSignal | undefined,
  ): Promise<http.IncomingMessage> {
    const query = request.query?.toString() ?? '';
    const secure = this.#base.protocol === 'https:';
    const options: https.RequestOptions = {
      hostname: this.#base.hostname.replace(/^\[|\]$/g, ''),
      port: this.#base.port === '' ? (secure ? 443 : 80) : Number(this.#base.port),
      method: request.method,
      path: `${this.#base.pathname.replace(/\/$/, '')}${request.path}${query === '' ? '' : `?${query}`}`,
      agent: this.#agentsOf(credentials, secure)[
        request.inactivityTimeout === undefined ? 'brief' : 'watches'
      ],
      headers: this.#headers(request, body, credentials),
      ...(signal === undefined ? {} : { signal }),
    };
    const timeout = request.inactivityTimeout ?? this.options.requestTimeout;
    return new Promise((resolve, reject) => {
      const sent = (secure ? https : http).request(options, resolve);
      sent.setTimeout(timeout, () => {
        sent.destroy(new ConnectionError(`nothing came for ${timeout / 1000} s`));
      });
      sent.on('error', (error) => {
        const code = 'code' in error ? error.code : undefined;
        const stale = sent.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE');
        reject(stale ? new StaleConnection(error.message, { cause: error }) : error);
      });
      sent.end(body);
    });
  }

  #headers(
    request: TransportRequest,
    body: Buffer | undefined,
    credentials: Credentials,
  ): http.OutgoingHttpHeaders {
    const { authorization, impersonate } = credentials;
    return {
      accept: request.accept ?? 'application/json',
      'user-agent': this.options.userAgent,
      ...(body === undefined
        ? {}
        : { 'content-type': request.contentType ?? 'application/json', 'content-length': body.length }),
      ...(authorization === undefined ? {} : { authorization }),
      ...(impersonate === undefined
        ? {}
        : { 'impersonate-user': impersonate.user, 'impersonate-group': [...impersonate.groups] }),
    };
  }

  /** A changed certificate needs new connections; those in use end by themselves. */
  #agentsOf(credentials: Credentials, secure: boolean): Agents {
    if (this.#agents !== undefined && this.#agentsFor === credentials) return this.#agents;
    const { ca, cert, key } = credentials;
    const before = this.#agentsFor;
    this.#agentsFor = credentials;
    if (this.#agents !== undefined && before?.ca === ca && before?.cert === cert && before?.key === key)
      return this.#agents;
    const identity: https.AgentOptions = {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
      ...(this.options.serverName === undefined ? {} : { servername: this.options.serverName }),
      rejectUnauthorized: this.options.insecureSkipTlsVerify !== true,
    };
    const agent = (options: http.AgentOptions): http.Agent =>
      secure ? new https.Agent({ ...options, ...identity }) : new http.Agent(options);
    this.#agents = {
      brief: agent({ keepAlive: true, maxSockets, maxFreeSockets: maxSockets }),
      watches: agent({ keepAlive: true, maxFreeSockets: 1 }),
    };
    return this.#agents;
  }

  async #read(response: http.IncomingMessage): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > this.options.maxBodyBytes) {
        response.destroy();
        throw new ConnectionError(`the answer is longer than ${this.options.maxBodyBytes} bytes`);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  }
}

/** A kept connection that turned out to be closed. */
class StaleConnection extends ConnectionError {}

/** What a broken answer or connection is to a caller. */
export function translate(error: unknown, request: TransportRequest, signal?: AbortSignal): unknown {
  if (signal?.aborted === true) return signal.reason;
  if (error instanceof StatusError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new ConnectionError(`${request.method} ${request.path}: ${detail}`, { cause: error });
}

function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ConnectionError('the answer is not JSON', { cause: error });
  }
}

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Gone',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function toStatusError(code: number, headers: http.IncomingHttpHeaders, text: string): StatusError {
  const seconds = Number(headers['retry-after']);
  const retryAfter = Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
  return new StatusError(asStatus(text) ?? syntheticStatus(code, text), retryAfter);
}

function asStatus(text: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isStatus =
      typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Status';
    return isStatus ? (value as Status) : undefined;
  } catch {
    // A proxy in between answers in HTML or plain text.
    return undefined;
  }
}

function syntheticStatus(code: number, text: string): Status {
  return {
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    code,
    reason: reasons[code] ?? 'Unknown',
    message: `the server answered ${code}: ${text.slice(0, 200).trim()}`,
  };
}
