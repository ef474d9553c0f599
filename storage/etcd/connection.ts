import * as grpc from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';
import { CompactedError, StorageError, TooLargeError, UnavailableError } from '../errors.js';
import type { Calls, WatchRequest, WatchResponse } from './messages.js';
import { services } from './messages.js';
import { channelCredentials, type RenewedTls } from './renewed-tls.js';
import { schema } from './schema.js';

/** PEM. `ca` absent: the certificates that Node trusts. `cert` and `key` if etcd asks for a client certificate. */
export interface EtcdTls {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

export interface EtcdConnectionOptions {
  /** `http://host:2379` or `https://host:2379`, one a member. */
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTls | RenewedTls;
}

export type WatchStream = grpc.ClientDuplexStream<WatchRequest, WatchResponse>;

/** A watch at one member. */
export interface MemberWatch {
  readonly stream: WatchStream;
  /** Ends it with an error, and goes to another member from now on. */
  giveUp(): void;
}

const callMilliseconds = 10_000;
/** How long one member may take over what another can be asked as well. */
const attemptMilliseconds = 3000;
const connectMilliseconds = 2000;

const channelOptions: grpc.ChannelOptions = {
  // etcd turns away those who ask more often than every five seconds.
  'grpc.keepalive_time_ms': 6000,
  'grpc.keepalive_timeout_ms': 3000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2000,
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
  // HTTP/2's own 64 kB hold a dozen events: more of them would wait for a word back, as long as etcd is away.
  'grpc-node.flow_control_window': 8 * 1024 * 1024,
  'grpc.max_send_message_length': -1,
};

/** Clients of all members. Calls go to one that is connected, and stay there while it answers. */
export class EtcdConnection {
  readonly #clients: readonly grpc.Client[];
  readonly #definition = fromJSON(schema, { longs: Number, defaults: true });
  #preferred = 0;
  #closed = false;

  constructor({ endpoints, tls }: EtcdConnectionOptions) {
    if (endpoints.length === 0) throw new RangeError('no etcd endpoint is given');
    this.#clients = endpoints.map((endpoint) => createClient(endpoint, tls));
  }

  /** What no member can have done yet is asked of the next one. Rejects with the last member's error. */
  async call<K extends keyof Calls>(
    name: K,
    request: Calls[K]['request'],
    signal?: AbortSignal,
  ): Promise<Calls[K]['response']> {
    const deadline = Date.now() + callMilliseconds;
    for (let left = this.#clients.length; ; left--) {
      const client = await this.#connected();
      signal?.throwIfAborted();
      const until = left > 1 && repeatable.has(name) ? Date.now() + attemptMilliseconds : deadline;
      try {
        return await this.#attempt(client, name, request, Math.min(until, deadline), signal);
      } catch (error) {
        const another = repeatable.has(name) ? isCutOff(error) : isRefused(error);
        if (left === 1 || !another || Date.now() >= deadline) throw error;
      }
    }
  }

  #attempt<K extends keyof Calls>(
    client: grpc.Client,
    name: K,
    request: Calls[K]['request'],
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<Calls[K]['response']> {
    const method = this.#method<Calls[K]['request'], Calls[K]['response']>(services[name], name);
    return new Promise((resolve, reject) => {
      const abort = (): void => call.cancel();
      const call = client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        withLeader(),
        { deadline },
        (error, response) => {
          signal?.removeEventListener('abort', abort);
          if (error === null && response !== undefined) resolve(response);
          else if (signal?.aborted === true) reject(signal.reason as Error);
          else {
            if (error !== null) this.#avoid(client, error);
            reject(error ?? new UnavailableError(`etcd gave no answer to ${name}`));
          }
        },
      );
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  async openWatch(): Promise<MemberWatch> {
    const client = await this.#connected();
    const method = this.#method<WatchRequest, WatchResponse>('Watch', 'Watch');
    const stream = client.makeBidiStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      withLeader(),
    );
    stream.on('error', (error) => {
      this.#avoid(client, error);
    });
    return {
      stream,
      giveUp: () => {
        this.#prefer(this.#clients.indexOf(client) + 1);
        stream.destroy(new UnavailableError('the member of etcd that was watched keeps silent'));
      },
    };
  }

  close(): void {
    this.#closed = true;
    for (const client of this.#clients) client.close();
  }

  #method<Request, Response>(service: string, name: string): grpc.MethodDefinition<Request, Response> {
    const definition = this.#definition[`etcdserverpb.${service}`] as grpc.ServiceDefinition;
    // The schema and the types of messages are written side by side.
    return definition[name] as grpc.MethodDefinition<Request, Response>;
  }

  /** A member that can be spoken to: the preferred one if it is connected, else the first that is. */
  async #connected(): Promise<grpc.Client> {
    if (this.#closed) throw closedError();
    const ready = this.#ready();
    if (ready !== undefined) return ready;
    const deadline = Date.now() + connectMilliseconds;
    const waits = this.#clients.map(
      (client) =>
        new Promise<grpc.Client>((resolve, reject) => {
          client.waitForReady(deadline, (error) => {
            if (error) reject(error);
            else resolve(client);
          });
        }),
    );
    try {
      const client = await Promise.any(waits);
      this.#preferred = this.#clients.indexOf(client);
      return client;
    } catch (error) {
      if (this.#isClosed()) throw closedError();
      throw new UnavailableError('no member of etcd can be reached', { cause: error });
    }
  }

  #isClosed(): boolean {
    return this.#closed;
  }

  #ready(): grpc.Client | undefined {
    for (let i = 0; i < this.#clients.length; i++) {
      const at = (this.#preferred + i) % this.#clients.length;
      const client = this.#clients[at];
      if (client?.getChannel().getConnectivityState(true) === grpc.connectivityState.READY) {
        this.#preferred = at;
        return client;
      }
    }
    return undefined;
  }

  /** The next call goes to another member: this one is gone, or cut off from the others. */
  #avoid(client: grpc.Client, error: unknown): void {
    const at = this.#clients.indexOf(client);
    if (isCutOff(error) && at === this.#preferred) this.#prefer(at + 1);
  }

  #prefer(at: number): void {
    this.#preferred = at % this.#clients.length;
  }
}

/** Calls that may be done twice. */
const repeatable: ReadonlySet<keyof Calls> = new Set(['Range', 'Status', 'Put', 'Compact']);

const isCutOff = (error: unknown): boolean =>
  isServiceError(error) &&
  (error.code === grpc.status.UNAVAILABLE || error.code === grpc.status.DEADLINE_EXCEEDED);

/** The member says that it has done nothing, nor will. */
const isRefused = (error: unknown): boolean =>
  isServiceError(error) &&
  error.code === grpc.status.UNAVAILABLE &&
  /^etcdserver: (no leader|not capable)|^No connection established/.test(error.details);

export const closedError = (): UnavailableError => new UnavailableError('storage is closed');

/** What a failed call means to callers of a backend. */
export function translate(error: unknown, what: string): Error {
  if (error instanceof StorageError) return error;
  if (!isServiceError(error)) return error instanceof Error ? error : new Error(String(error));
  return new UnavailableError(`etcd can not ${what}: ${error.details || error.message}`, { cause: error });
}

/** What a failed write of so many bytes means. */
export function translateWrite(error: unknown, key: string, bytes: number): Error {
  if (isServiceError(error) && error.details.includes('request is too large'))
    return new TooLargeError(key, bytes);
  if (!isCutOff(error) || isRefused(error)) return translate(error, 'write');
  const { message } = translate(error, 'write');
  return new UnavailableError(`${message}; whether ${key} was written is not known`, {
    cause: error,
    uncertain: true,
  });
}

/** The answer did not fit into what a client takes. */
export const isTooLong = (error: unknown): boolean =>
  isServiceError(error) &&
  error.code === grpc.status.RESOURCE_EXHAUSTED &&
  error.details.includes('larger than max');

export const isServiceError = (error: unknown): error is grpc.ServiceError =>
  error instanceof Error && 'code' in error && 'details' in error;

/** etcd tells these two apart by their text alone. */
export const isCompacted = (error: unknown): boolean =>
  error instanceof CompactedError ||
  (isServiceError(error) && error.code === grpc.status.OUT_OF_RANGE && error.details.includes('compacted'));

export const isFuture = (error: unknown): boolean =>
  isServiceError(error) && error.code === grpc.status.OUT_OF_RANGE && error.details.includes('future');

function createClient(endpoint: string, tls: EtcdTls | RenewedTls = {}): grpc.Client {
  const url = new URL(endpoint);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new RangeError(`an etcd endpoint is http://host:port or https://host:port: ${endpoint}`);
  }
  const credentials = url.protocol === 'http:' ? grpc.credentials.createInsecure() : channelCredentials(tls);
  return new grpc.Client(`${url.hostname}:${url.port || '2379'}`, credentials, channelOptions);
}

/** A member that has lost its leader refuses, instead of waiting. */
function withLeader(): grpc.Metadata {
  const metadata = new grpc.Metadata();
  metadata.set('hasleader', 'true');
  return metadata;
}
