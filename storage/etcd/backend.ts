import type { Logger } from 'pino';
import { systemClock, type Clock } from '../clock.js';
import {
  CompactedError,
  ConflictError,
  FutureRevisionError,
  IncompatibleError,
  UnavailableError,
} from '../errors.js';
import type {
  Backend,
  BackendEvents,
  BackendWatchOptions,
  KeyValue,
  ListOptions,
  ListResult,
  Revision,
  Write,
} from '../interface.js';
import { checkKey } from '../keys.js';
import { Compactor } from './compactor.js';
import {
  closedError,
  EtcdConnection,
  isCompacted,
  isFuture,
  isTooLong,
  translate,
  translateWrite,
  type EtcdTls,
} from './connection.js';
import { Keyspace, rangeEnd } from './keyspace.js';
import { Leases } from './leases.js';
import type { Calls, RangeRequest, RangeResponse, TxnRequest, TxnResponse } from './messages.js';
import type { RenewedTls } from './renewed-tls.js';
import { OpenWatch, Patience } from './open-watch.js';
import { readWatch } from './watch.js';

export interface EtcdBackendOptions {
  /** `http://host:2379` or `https://host:2379`, one a member. */
  readonly endpoints: readonly string[];
  readonly tls?: EtcdTls | RenewedTls;
  /** All keys are under it. */
  readonly root?: string;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** How long history is kept; 0: whoever else uses this etcd compacts it. */
  readonly compactionMilliseconds?: number;
}

const format = { name: 'nativirt', format: 1 };
const pageLength = 1000;

/**
 * Connects to etcd. Rejects with `UnavailableError` if no member answers, with `IncompatibleError` if a newer version or
 * another program uses the root.
 */
export async function openEtcdBackend(options: EtcdBackendOptions): Promise<Backend> {
  const connection = new EtcdConnection(options);
  try {
    const keyspace = new Keyspace(options.root ?? '/nativirt');
    const { version } = await connection.call('Status', {});
    await checkFormat(connection, keyspace);
    return new EtcdBackend(options, connection, keyspace, tellsProgress(version));
  } catch (error) {
    connection.close();
    throw translate(error, 'be used');
  }
}

class EtcdBackend implements Backend {
  readonly #connection: EtcdConnection;
  readonly #keyspace: Keyspace;
  readonly #leases: Leases;
  readonly #clock: Clock;
  readonly #compactor: Compactor | undefined;
  readonly #watches = new Set<OpenWatch>();
  readonly #patience: Patience;
  readonly #tellsProgress: boolean;
  /** The newest revision that etcd ever told. */
  #newest = 0;
  #nextRevision: Promise<Revision> | undefined;
  #closed = false;

  constructor(
    options: EtcdBackendOptions,
    connection: EtcdConnection,
    keyspace: Keyspace,
    tellsProgress: boolean,
  ) {
    const { clock = systemClock, logger, compactionMilliseconds: milliseconds = 300_000 } = options;
    this.#connection = connection;
    this.#keyspace = keyspace;
    this.#clock = clock;
    this.#tellsProgress = tellsProgress;
    this.#leases = new Leases(connection, clock);
    this.#patience = new Patience(options.endpoints.length);
    this.#compactor =
      milliseconds > 0 ? new Compactor({ connection, keyspace, clock, logger, milliseconds }) : undefined;
  }

  /** Readers of one moment share one question, which is asked after the last of them came. */
  async currentRevision(signal?: AbortSignal): Promise<Revision> {
    signal?.throwIfAborted();
    this.#nextRevision ??= Promise.resolve().then(async () => {
      this.#nextRevision = undefined;
      const key = this.#keyspace.own('format');
      return (await this.#call('Range', { key, countOnly: true }, 'be read')).header.revision;
    });
    return await this.#nextRevision;
  }

  async get(
    key: string,
    { revision = 0 }: { readonly revision?: Revision } = {},
  ): Promise<{ revision: Revision; kv: KeyValue | undefined }> {
    const { header, kvs } = await this.#range({ key: this.#keyspace.key(key), revision });
    const kv = kvs[0] && this.#keyspace.toKeyValue(kvs[0]);
    return { revision: revision || header.revision, kv };
  }

  async list(prefix: string, options: ListOptions = {}): Promise<ListResult> {
    const start = this.#keyspace.key(prefix);
    const items: KeyValue[] = [];
    const { limit = Infinity, after } = options;
    let revision = options.revision ?? 0;
    let key = after !== undefined && after >= prefix ? behind(this.#keyspace.key(after)) : start;
    let length = pageLength;
    for (;;) {
      const page = await this.#page(start, key, revision, Math.min(length, limit - items.length));
      if (page === undefined) {
        length = Math.ceil(length / 4);
        continue;
      }
      for (const kv of page.kvs) if (!this.#keyspace.isMarker(kv)) items.push(this.#keyspace.toKeyValue(kv));
      if (revision === 0) revision = page.header.revision;
      const last = page.kvs.at(-1);
      if (!page.more || last === undefined) return { revision, items, more: false };
      if (items.length >= limit) return { revision, items, more: true };
      key = behind(last.key);
    }
  }

  async write({ key, expect, value, ttlSeconds }: Write): Promise<{ revision: Revision }> {
    checkKey(key);
    const etcdKey = this.#keyspace.key(key);
    if (expect === 0 && value === undefined) throw new ConflictError(key, (await this.get(key)).kv);
    const lease =
      ttlSeconds === undefined || value === undefined
        ? 0
        : await this.#answer(this.#leases.grant(ttlSeconds), 'grant a lease');
    const { header, succeeded, responses } = await this.#txn(key, value, {
      compare: [{ result: 0, target: 2, key: etcdKey, modRevision: expect }],
      success: [
        value === undefined ? { deleteRange: { key: etcdKey } } : { put: { key: etcdKey, value, lease } },
      ],
      failure: [{ range: { key: etcdKey } }],
    });
    if (succeeded) return { revision: header.revision };
    const kv = responses[0]?.range?.kvs[0];
    throw new ConflictError(key, kv && this.#keyspace.toKeyValue(kv));
  }

  async *watch(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
    options: BackendWatchOptions = {},
  ): AsyncGenerator<BackendEvents, void, undefined> {
    if (signal.aborted) return;
    if (this.#closed) throw closedError();
    const member = await this.#answer(this.#connection.openWatch(), 'watch');
    const { stream } = member;
    const watch = new OpenWatch({
      member,
      clock: this.#clock,
      newest: () => this.#newest,
      putMarker: this.#tellsProgress ? undefined : () => this.#putMarker(prefix),
      after,
      patience: this.#patience,
    });
    this.#watches.add(watch);
    const abort = (): void => stream.cancel();
    signal.addEventListener('abort', abort);
    try {
      if (isAborted(signal)) return;
      yield* readWatch({
        keyspace: this.#keyspace,
        stream,
        prefix,
        after,
        options,
        created: (newest) => {
          this.#newest = Math.max(this.#newest, newest);
          watch.created();
        },
        reached: (revision) => watch.reached(revision),
        awaited: (isAwaited) => watch.awaited(isAwaited),
      });
      if (this.#isClosed()) throw closedError();
    } finally {
      signal.removeEventListener('abort', abort);
      this.#watches.delete(watch);
      watch.close();
    }
  }

  requestProgress(): void {
    for (const watch of this.#watches) watch.requestProgress();
  }

  async compact(revision: Revision): Promise<void> {
    try {
      await this.#connection.call('Compact', { revision, physical: true });
    } catch (error) {
      if (isCompacted(error)) return;
      if (isFuture(error)) throw new FutureRevisionError(revision, await this.currentRevision());
      throw translate(error, 'compact');
    }
  }

  async check(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#call('Range', { key: this.#keyspace.own('format'), countOnly: true }, 'be read', signal);
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#compactor?.close();
    for (const watch of this.#watches) watch.close();
    this.#connection.close();
    return Promise.resolve();
  }

  #isClosed(): boolean {
    return this.#closed;
  }

  /** Undefined if so many keys are too much for one answer. */
  async #page(
    prefix: Buffer,
    key: Buffer,
    revision: Revision,
    limit: number,
  ): Promise<RangeResponse | undefined> {
    try {
      return await this.#range({ key, rangeEnd: rangeEnd(prefix), revision, limit });
    } catch (error) {
      if (error instanceof UnavailableError && isTooLong(error.cause) && limit > 1) return undefined;
      throw error;
    }
  }

  async #range(request: RangeRequest): Promise<RangeResponse> {
    const { revision = 0 } = request;
    try {
      const response = await this.#connection.call('Range', request);
      this.#newest = Math.max(this.#newest, response.header.revision);
      return response;
    } catch (error) {
      if (isFuture(error)) throw new FutureRevisionError(revision, await this.currentRevision());
      if (isCompacted(error)) throw new CompactedError(revision, await this.#oldest(revision));
      throw translate(error, 'be read');
    }
  }

  /** Where history begins. etcd says so only to those who watch from before. */
  async #oldest(compacted: Revision): Promise<Revision> {
    try {
      for await (const events of this.watch('/', compacted - 1, AbortSignal.timeout(5000))) {
        if (events.revision > compacted) break;
      }
    } catch (error) {
      if (error instanceof CompactedError) return error.oldest;
      throw error;
    }
    throw new UnavailableError('etcd does not say where its history begins');
  }

  async #putMarker(prefix: string): Promise<void> {
    await this.#call('Put', { key: this.#keyspace.marker(prefix), value: Buffer.alloc(0) }, 'write');
  }

  async #txn(key: string, value: Buffer | undefined, request: TxnRequest): Promise<TxnResponse> {
    try {
      const response = await this.#connection.call('Txn', request);
      this.#newest = Math.max(this.#newest, response.header.revision);
      return response;
    } catch (error) {
      throw this.#closed ? closedError() : translateWrite(error, key, value?.length ?? 0);
    }
  }

  async #call<K extends keyof Calls>(
    name: K,
    request: Calls[K]['request'],
    what: string,
    signal?: AbortSignal,
  ): Promise<Calls[K]['response']> {
    const response = await this.#answer(this.#connection.call(name, request, signal), what);
    this.#newest = Math.max(this.#newest, response.header.revision);
    return response;
  }

  async #answer<T>(call: Promise<T>, what: string): Promise<T> {
    try {
      return await call;
    } catch (error) {
      throw this.#closed ? closedError() : translate(error, what);
    }
  }
}

const isAborted = (signal: AbortSignal): boolean => signal.aborted;

/** The first key behind `key`. */
const behind = (key: Buffer): Buffer => Buffer.concat([key, Buffer.alloc(1)]);

/**
 * Whether this version's answers to progress requests can be trusted. Before 3.4.25 and 3.5.8 they could overtake
 * events.
 */
export function tellsProgress(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => parseInt(part, 10));
  if (major !== 3) return major > 3;
  if (minor === 4) return patch >= 25;
  return minor === 5 ? patch >= 8 : minor > 5;
}

async function checkFormat(connection: EtcdConnection, keyspace: Keyspace): Promise<void> {
  const key = keyspace.own('format');
  const mark = JSON.stringify(format);
  const { succeeded, responses } = await connection.call('Txn', {
    compare: [{ result: 0, target: 0, key, version: 0 }],
    success: [{ put: { key, value: Buffer.from(mark) } }],
    failure: [{ range: { key } }],
  });
  const found = responses[0]?.range?.kvs[0]?.value.toString();
  if (succeeded || found === mark) return;
  throw new IncompatibleError(
    `etcd holds data of another program or a newer version under ${key.toString()}: ${found?.slice(0, 100) ?? ''}; this version reads ${mark}`,
  );
}
