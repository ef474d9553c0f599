import type { Logger } from 'pino';
import { systemClock, type Clock } from '../clock.js';
import { CompactedError, IncompatibleError, UnavailableError } from '../errors.js';
import type { Backend, Entry, ObjectStore, Revision } from '../interface.js';
import { CachedStore, type Shared } from './cached-store.js';
import { defaultLimits, type CacheLimits, type StoreOptions } from './options.js';
import { awaitRevision } from './freshness.js';
import { Progress } from './progress.js';
import { Waker } from './waker.js';
import type { Watcher } from './watcher.js';

export interface StoreSetOptions {
  readonly backend: Backend;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** All stores are under it. */
  readonly prefix?: string;
  readonly limits?: Partial<CacheLimits>;
}

/**
 * The caches of all resources of one process. They share one watch of the backend, so that one revision says how far all
 * of them are, and a resource costs nothing while it does not change.
 */
export interface StoreSet {
  /** Adds the store of one resource. Only before `start`. */
  add(options: StoreOptions): ObjectStore;
  /**
   * Fills the stores and keeps them up to date. Resolves when all are ready, however long the backend does not answer;
   * rejects with `IncompatibleError` if an object can not be read, or with the signal's reason.
   */
  start(signal?: AbortSignal): Promise<void>;
  /** Rejects with `UnavailableError` unless the stores are full and show what was written up to now. */
  check(signal: AbortSignal): Promise<void>;
  /** Ends all watches. The backend stays open. */
  close(): Promise<void>;
}

const pageLength = 2000;
const firstBackoff = 50;
const longestBackoff = 1000;

export function createStoreSet(options: StoreSetOptions): StoreSet {
  return new CachedStoreSet(options);
}

/** One store with a watch of its own. `start` must be called as with a set. */
export function createObjectStore(
  options: Omit<StoreSetOptions, 'prefix'> & StoreOptions,
): { readonly store: ObjectStore } & Pick<StoreSet, 'start' | 'close'> {
  const set = createStoreSet(options);
  const store = set.add({
    prefix: options.prefix,
    attributesOf: (key, bytes) => options.attributesOf(key, bytes),
  });
  return { store, start: (signal) => set.start(signal), close: () => set.close() };
}

class CachedStoreSet implements StoreSet {
  readonly #backend: Backend;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #shared: Shared;
  readonly #progress: Progress;
  readonly #bookmarkMilliseconds: number;
  readonly #stores = new Map<string, CachedStore>();
  readonly #abort = new AbortController();
  #cancelBookmarks: () => void = () => undefined;
  #loop: Promise<void> | undefined;

  constructor(options: StoreSetOptions) {
    this.#backend = options.backend;
    this.#logger = options.logger;
    this.#clock = options.clock ?? systemClock;
    this.#prefix = options.prefix ?? '/';
    this.#progress = new Progress(this.#clock);
    const limits = { ...defaultLimits, ...options.limits };
    this.#bookmarkMilliseconds = limits.bookmarkMilliseconds;
    const waker = new Waker(limits.gatherMilliseconds);
    const wake = (watcher: Watcher): void => {
      waker.wake(watcher);
    };
    this.#shared = { backend: this.#backend, limits, progress: this.#progress, wake };
  }

  add(options: StoreOptions): ObjectStore {
    const { prefix } = options;
    if (this.#loop !== undefined) throw new Error('stores are added before the set is started');
    if (!storePrefix.test(prefix) || !prefix.startsWith(this.#prefix) || this.#stores.has(prefix)) {
      throw new Error(
        `a store's prefix is /<group>/<resource>/ under ${this.#prefix} and its own: ${prefix}`,
      );
    }
    const store = new CachedStore(options, this.#shared);
    this.#stores.set(prefix, store);
    return store;
  }

  async start(signal?: AbortSignal): Promise<void> {
    if (this.#loop !== undefined) throw new Error('the set has been started already');
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      this.#loop = this.#run(resolve, reject);
    });
    this.#scheduleBookmarks();
  }

  async check(signal: AbortSignal): Promise<void> {
    await awaitRevision(this.#shared, { kind: 'newest' }, signal);
  }

  async close(): Promise<void> {
    this.#cancelBookmarks();
    for (const store of this.#stores.values()) store.endWatches();
    this.#abort.abort();
    await this.#loop;
  }

  /** Follows the backend until the set is closed. */
  async #run(filled: () => void, failed: (error: unknown) => void): Promise<void> {
    const { signal } = this.#abort;
    let backoff = firstBackoff;
    let isCurrent = false;
    while (!isAborted(signal)) {
      try {
        if (!isCurrent) await this.#fill();
        isCurrent = true;
        filled();
        for await (const { revision, events } of this.#backend.watch(
          this.#prefix,
          this.#progress.revision,
          signal,
          {
            previous: false,
          },
        )) {
          for (const event of events) this.#storeOf(event.key)?.apply(event);
          this.#progress.advance(revision);
          backoff = firstBackoff;
        }
        if (isAborted(signal)) break;
        this.#logger.warn(
          { revision: this.#progress.revision },
          'the watch of the backend ended; it is begun again',
        );
      } catch (error) {
        if (isAborted(signal)) break;
        if (error instanceof CompactedError) isCurrent = false;
        if (error instanceof IncompatibleError) {
          failed(error);
          isCurrent = false;
        }
        this.#logger.warn(
          { err: error, revision: this.#progress.revision },
          'the backend can not be followed; trying again',
        );
      }
      await this.#sleep(backoff);
      backoff = Math.min(backoff * 2, longestBackoff);
    }
    failed(new UnavailableError('the cache is closed'));
  }

  /** Reads everything at one revision. */
  async #fill(): Promise<void> {
    const found = new Map<CachedStore, Entry[]>([...this.#stores.values()].map((store) => [store, []]));
    let revision: Revision | undefined;
    let after: string | undefined;
    for (let more = true; more;) {
      const page = await this.#backend.list(this.#prefix, {
        limit: pageLength,
        ...(revision !== undefined && { revision }),
        ...(after !== undefined && { after }),
      });
      for (const kv of page.items) {
        const store = this.#storeOf(kv.key);
        if (store !== undefined) found.get(store)?.push(store.entryOf(kv));
      }
      ({ revision, more } = page);
      after = page.items.at(-1)?.key;
    }
    for (const [store, entries] of found) store.replace(entries, revision ?? 0);
    this.#progress.advance(revision ?? 0);
  }

  /** The store of a key: keys of resources that nobody serves have none. */
  #storeOf(key: string): CachedStore | undefined {
    const resource = key.indexOf('/', 1) + 1;
    const name = key.indexOf('/', resource) + 1;
    return this.#stores.get(key.slice(0, name));
  }

  #scheduleBookmarks(): void {
    if (this.#abort.signal.aborted) return;
    this.#cancelBookmarks = this.#clock.timer(this.#bookmarkMilliseconds, () => {
      for (const store of this.#stores.values()) store.bookmark();
      this.#scheduleBookmarks();
    });
  }

  async #sleep(milliseconds: number): Promise<void> {
    const { signal } = this.#abort;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        cancel();
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const cancel = this.#clock.timer(milliseconds, wake);
      signal.addEventListener('abort', wake);
    });
  }
}

const storePrefix = /^\/[^/]+\/[^/]+\/$/;

const isAborted = (signal: AbortSignal): boolean => signal.aborted;
