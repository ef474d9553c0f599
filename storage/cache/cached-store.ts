import { CompactedError, ConflictError, IncompatibleError, UnavailableError } from '../errors.js';
import type {
  Attributes,
  BackendEvent,
  Entry,
  KeyValue,
  ObjectListOptions,
  ObjectListResult,
  ObjectStore,
  Revision,
  Watch,
  WatchOptions,
} from '../interface.js';
import { ChangeLog } from './change-log.js';
import { Change } from './change.js';
import { awaitRevision, type Following, type ReadAt } from './freshness.js';
import { collectPage, namespacePrefix, rangeOf, walkState } from './list.js';
import type { StoreOptions } from './options.js';
import { fromInitial, fromRevision, type WatchSource } from './prelude.js';
import { SortedEntries } from './sorted-entries.js';
import { Watcher, type Prelude, type WatcherHost } from './watcher.js';
import { Watchers } from './watchers.js';

/** What a store shares with the others of its set. */
export interface Shared extends Following {
  /** Hands queued events to a waiting reader, soon and together with those that come until then. */
  wake(watcher: Watcher): void;
}

type StoreWrite = Parameters<ObjectStore['write']>[0];

/** A write of this store that is under way: its attributes spare the cache from parsing the bytes when they come back. */
interface PendingWrite {
  readonly bytes: Buffer | undefined;
  readonly attributes: Attributes;
  /** What the cache made of it. */
  entry: Entry | undefined;
}

/** The objects of one resource, in memory. */
export class CachedStore implements ObjectStore, WatcherHost {
  readonly prefix: string;
  readonly #options: StoreOptions;
  readonly #shared: Shared;
  readonly #watchers = new Watchers();
  readonly #pending = new Map<string, PendingWrite[]>();
  #entries = new SortedEntries();
  #log: ChangeLog;

  constructor(options: StoreOptions, shared: Shared) {
    this.prefix = options.prefix;
    this.#options = options;
    this.#shared = shared;
    this.#log = this.#newLog(-1);
  }

  get size(): number {
    return this.#entries.size;
  }

  get ready(): boolean {
    return this.#shared.progress.revision >= 0;
  }

  async get(key: string, at: ReadAt): Promise<Entry | undefined> {
    await awaitRevision(this.#shared, at);
    return this.#entries.get(key);
  }

  async list(options: ObjectListOptions): Promise<ObjectListResult> {
    const { at } = options;
    if (at.kind !== 'exact') {
      await awaitRevision(this.#shared, at);
      const { revision } = this;
      return { revision, ...collectPage(options, (visit) => this.#walk(options, undefined, visit)) };
    }
    const { revision } = at;
    await awaitRevision(this.#shared, { kind: 'notOlderThan', revision });
    if (revision < this.#log.base) return await this.#listFromHistory(options, revision);
    const then = this.#log.before(revision);
    return { revision, ...collectPage(options, (visit) => this.#walk(options, then, visit)) };
  }

  watch(options: WatchOptions): Watch {
    const { from } = options;
    const prelude: Prelude =
      from.kind === 'initial'
        ? (watcher, signal) => fromInitial(this.#source, watcher, from, signal)
        : (watcher, signal) => fromRevision(this.#source, watcher, from.revision, signal);
    return new Watcher(options, this, this.#shared.limits.queuedEvents, prelude);
  }

  async write(write: StoreWrite): Promise<Entry> {
    const { key, bytes, attributes } = write;
    const pending: PendingWrite = { bytes, attributes, entry: undefined };
    const writes = this.#pending.get(key);
    if (writes) writes.push(pending);
    else this.#pending.set(key, [pending]);
    try {
      return await this.#write(write, pending);
    } catch (error) {
      throw error instanceof ConflictError ? await this.#conflict(error as ConflictError<KeyValue>) : error;
    } finally {
      this.#unlist(key, pending);
    }
  }

  // What follows is for the set that feeds the store.

  /** One change from the backend's watch, in order. */
  apply({ type, key, kv }: BackendEvent): void {
    const revision = kv.modRevision;
    const current = type === 'put' ? this.#entryOfWrite(kv) : undefined;
    const previous = current ? this.#entries.set(current) : this.#entries.delete(key);
    const change = new Change(revision, previous, current);
    if (change.entry === undefined) return;
    if (current === undefined && previous !== undefined)
      this.#settleDeletion(key, change.deletion(previous).entry);
    this.#log.push(change);
    this.#watchers.offer(change);
  }

  /** An entry for what the backend holds; the one of the cache if it is the same. */
  entryOf({ key, value, modRevision }: KeyValue): Entry {
    const cached = this.#entries.get(key);
    if (cached?.revision === modRevision) return cached;
    return {
      key: cached?.key ?? key,
      revision: modRevision,
      bytes: value,
      attributes: this.#attributes(key, value),
    };
  }

  /** Takes `entries` (sorted) as the state at `revision`. History before is gone, and with it the watches. */
  replace(entries: readonly Entry[], revision: Revision): void {
    this.#entries = SortedEntries.from(entries);
    this.#log = this.#newLog(revision);
    const gone = new CompactedError(this.#shared.progress.revision, revision);
    this.#watchers.forEach((watcher) => watcher.fail(gone));
  }

  bookmark(): void {
    this.#watchers.forEach((watcher) => watcher.bookmark());
  }

  endWatches(): void {
    this.#watchers.forEach((watcher) => watcher.end());
  }

  // What follows is for its watchers.

  get revision(): Revision {
    return this.#shared.progress.revision;
  }

  wake(watcher: Watcher): void {
    this.#shared.wake(watcher);
  }

  forget(watcher: Watcher): void {
    this.#watchers.delete(watcher);
  }

  // What follows is private.

  get #source(): WatchSource {
    return {
      backend: this.#shared.backend,
      prefix: this.prefix,
      await: (at, signal) => awaitRevision(this.#shared, at, signal),
      revision: () => this.revision,
      log: () => this.#log,
      add: (watcher, position) => this.#watchers.add(watcher, position),
      walk: (options, visit) => this.#walk(options, undefined, visit),
      entryOf: (kv) => this.entryOf(kv),
    };
  }

  #newLog(base: Revision): ChangeLog {
    const { historyChanges, historyBytes } = this.#shared.limits;
    return new ChangeLog({ changes: historyChanges, bytes: historyBytes }, base);
  }

  #walk(
    options: { readonly namespace?: string; readonly name?: string; readonly after?: string },
    then: ReadonlyMap<string, Entry | undefined> | undefined,
    visit: (entry: Entry) => boolean,
  ): void {
    walkState(this.#entries, then, rangeOf(this.prefix, options), options.after, visit);
  }

  async #listFromHistory(options: ObjectListOptions, revision: Revision): Promise<ObjectListResult> {
    const { namespace, matches, limit = Infinity } = options;
    const prefix = namespacePrefix(this.prefix, namespace);
    const entries: Entry[] = [];
    let { after } = options;
    for (;;) {
      // Without a selection, the page that is asked for and one more key show all there is to know.
      const size = matches === undefined && limit !== Infinity ? limit - entries.length + 1 : 500;
      const page = await this.#shared.backend.list(prefix, {
        revision,
        limit: size,
        ...(after !== undefined && { after }),
      });
      for (const kv of page.items) {
        const entry = this.entryOf(kv);
        if (matches !== undefined && !matches(entry.attributes)) continue;
        if (entries.length >= limit)
          return { revision, entries, next: entries.at(-1)?.key, remaining: undefined };
        entries.push(entry);
      }
      after = page.items.at(-1)?.key;
      if (!page.more) return { revision, entries, next: undefined, remaining: matches ? undefined : 0 };
    }
  }

  async #write(write: StoreWrite, pending: PendingWrite): Promise<Entry> {
    const { backend, limits, progress } = this.#shared;
    const { key, expect, bytes, attributes, ttlSeconds } = write;
    const { revision } = await backend.write({
      key,
      expect,
      value: bytes,
      ...(ttlSeconds !== undefined && { ttlSeconds }),
    });
    if (!(await progress.reached(revision, limits.watchLagMilliseconds))) {
      backend.requestProgress?.();
      // What is written stays written, whether or not the watch tells of it in time.
      await progress.reached(revision, limits.writeWaitMilliseconds);
    }
    if (pending.entry?.revision === revision) return pending.entry;
    const cached = this.#entries.get(key);
    if (cached?.revision === revision) return cached;
    // The cache was filled anew meanwhile, or took it for another write of the same bytes.
    const last = bytes ?? (await backend.get(key, { revision: expect })).kv?.value;
    if (last === undefined) throw new UnavailableError(`what ${key} was before it was deleted is not known`);
    return { key, revision, bytes: last, attributes };
  }

  async #conflict(error: ConflictError<KeyValue>): Promise<ConflictError<Entry>> {
    const { current, key } = error;
    if (current === undefined) return new ConflictError<Entry>(key, undefined);
    await this.#shared.progress.reached(current.modRevision, this.#shared.limits.readWaitMilliseconds);
    return new ConflictError(key, this.entryOf(current));
  }

  #unlist(key: string, pending: PendingWrite): void {
    const others = this.#pending.get(key)?.filter((other) => other !== pending);
    if (others === undefined || others.length === 0) this.#pending.delete(key);
    else this.#pending.set(key, others);
  }

  /** If the write is our own, its bytes and attributes are here already. */
  #entryOfWrite(kv: KeyValue): Entry {
    const { key, value, modRevision } = kv;
    const own = this.#pending
      .get(key)
      ?.find(({ bytes, entry }) => entry === undefined && (bytes === value || bytes?.equals(value) === true));
    if (own?.bytes === undefined) return this.entryOf(kv);
    own.entry = {
      key: this.#entries.get(key)?.key ?? key,
      revision: modRevision,
      bytes: own.bytes,
      attributes: own.attributes,
    };
    return own.entry;
  }

  #settleDeletion(key: string, entry: Entry): void {
    for (const pending of this.#pending.get(key) ?? []) {
      if (pending.bytes === undefined) pending.entry = entry;
    }
  }

  #attributes(key: string, bytes: Buffer): Attributes {
    try {
      return this.#options.attributesOf(key, bytes);
    } catch (error) {
      throw new IncompatibleError(`what is stored under ${key} can not be read: ${String(error)}`, {
        cause: error,
      });
    }
  }
}
