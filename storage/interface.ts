/**
 * Where objects live. Two contracts:
 *
 * - `Backend`: a small etcd-shaped key-value store (level/, etcd/). Keys are `/<group>/<resource>/[<namespace>/]<name>`
 *   (the core group is `core`).
 * - `ObjectStore`: what the API server uses, one per resource: the watch cache over a backend. It serves reads and
 *   watches from memory, as the bytes that were written.
 *
 * Errors are those of `errors.ts`, and no others.
 */

/** A revision of the whole store. Grows by at least one with each write; fits a JavaScript integer. */
export type Revision = number;

export interface KeyValue {
  readonly key: string;
  readonly value: Buffer;
  /** The revision of the write that made this value. */
  readonly modRevision: Revision;
  /** The revision at which the key was created (again, if it had been deleted). */
  readonly createRevision: Revision;
}

export interface ListOptions {
  /** Read the state as it was at this revision; the newest if absent. Compacted away: `CompactedError`. From the future: `FutureRevisionError`. */
  readonly revision?: Revision;
  /** At most so many keys; all if absent. */
  readonly limit?: number;
  /** Start behind this key (exclusive), for the next page. */
  readonly after?: string;
}

export interface ListResult {
  /** The revision that the answer shows. */
  readonly revision: Revision;
  /** In the order of their keys, bytewise. */
  readonly items: readonly KeyValue[];
  readonly more: boolean;
}

/** One write of one key, done only if the key is as `expect` says. */
export interface Write {
  readonly key: string;
  /** The modRevision that the key must have now; 0: the key must not exist. */
  readonly expect: Revision;
  /** `undefined` deletes the key. */
  readonly value: Buffer | undefined;
  /** Seconds after which the store itself deletes the key (events). */
  readonly ttlSeconds?: number;
}

export interface BackendEvent {
  readonly type: 'put' | 'delete';
  readonly key: string;
  /** The new value; of a delete, the last one. `modRevision` is the revision of this event also for a delete. */
  readonly kv: KeyValue;
  /** What the key held before, if anything. */
  readonly previous: KeyValue | undefined;
}

/** Events of one revision, or (no events) word that everything up to `revision` has been delivered. */
export interface BackendEvents {
  readonly revision: Revision;
  readonly events: readonly BackendEvent[];
}

export interface BackendWatchOptions {
  /**
   * Whether events carry what was there before. True if absent. If false, `previous` is undefined, and the value of a
   * delete is empty and its createRevision unknown: for readers that hold the previous state themselves.
   */
  readonly previous?: boolean;
}

export interface Backend {
  /** The newest committed revision. */
  currentRevision(signal?: AbortSignal): Promise<Revision>;
  get(
    key: string,
    options?: { readonly revision?: Revision },
  ): Promise<{ revision: Revision; kv: KeyValue | undefined }>;
  list(prefix: string, options?: ListOptions): Promise<ListResult>;
  /**
   * Compare and swap, durable when it resolves. Rejects with `ConflictError` (which carries the current value, if any)
   * when the key is not as expected; nothing is written then.
   */
  write(write: Write): Promise<{ revision: Revision }>;
  /**
   * Every change of keys under `prefix` with a revision greater than `after`, in order, none twice. Ends when `signal`
   * aborts. Throws `CompactedError` if `after` is older than the history, and `UnavailableError` when the store goes away.
   * The first answer comes at once, without events if there are none: from then on the watch is in force.
   */
  watch(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
    options?: BackendWatchOptions,
  ): AsyncIterable<BackendEvents>;
  /**
   * Asks that the open watches soon say how far they are, though nothing changed under their prefix. Absent where they
   * always do so at once.
   */
  requestProgress?(): void;
  /** Forget history before `revision`: older exact reads and watches then get `CompactedError`. */
  compact(revision: Revision): Promise<void>;
  /** Resolves if the store answers, rejects with `UnavailableError` otherwise. */
  check(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/**
 * What a read needs to know of an object without parsing it. Computed by the API server from the decoded object when it
 * is written, and from the bytes when the cache fills.
 */
export interface Attributes {
  readonly namespace: string | undefined;
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Selectable fields besides metadata.name and metadata.namespace: `status.phase`, `spec.nodeName` … */
  readonly fields: Readonly<Record<string, string>>;
  /** Values of the printer columns, wide ones included; dates as RFC 3339. */
  readonly cells: readonly unknown[];
  /** The JSON of `PartialObjectMetadata`'s metadata is derived from the bytes on demand, so it is not kept here. */
}

/** One stored object. Immutable, shared by all readers. */
export interface Entry {
  readonly key: string;
  readonly revision: Revision;
  /** The object's JSON without its head: see `apiserver/codec/stored-bytes.ts`. */
  readonly bytes: Buffer;
  readonly attributes: Attributes;
}

export type WatchEvent =
  | { readonly type: 'ADDED'; readonly entry: Entry }
  | { readonly type: 'MODIFIED'; readonly entry: Entry }
  /** `entry` is the last state, with the revision of the deletion (or of the change that left the selection). */
  | { readonly type: 'DELETED'; readonly entry: Entry }
  /** Everything up to `revision` has been sent. `initialEventsEnd` closes the initial list of a watch. */
  | { readonly type: 'BOOKMARK'; readonly revision: Revision; readonly initialEventsEnd: boolean };

export type Selection = (attributes: Attributes) => boolean;

export interface ObjectListOptions {
  /** Only this namespace; all if absent. */
  readonly namespace?: string;
  /** The only name that `matches` lets pass, if there is one: others need not be looked at. */
  readonly name?: string;
  readonly matches?: Selection;
  /**
   * `newest`: nothing that was acknowledged before the call may be missing. `any`: whatever the cache holds.
   * `notOlderThan`: wait (bounded) for that revision; `FutureRevisionError` if it does not come.
   * `exact`: the state at that revision; `CompactedError` if it is gone.
   */
  readonly at:
    | { readonly kind: 'newest' }
    | { readonly kind: 'any' }
    | { readonly kind: 'notOlderThan'; readonly revision: Revision }
    | { readonly kind: 'exact'; readonly revision: Revision };
  readonly limit?: number;
  /** Key behind which the page starts (exclusive). Only with `exact`. */
  readonly after?: string;
}

export interface ObjectListResult {
  readonly revision: Revision;
  readonly entries: readonly Entry[];
  /** The last key of this page if more follow. */
  readonly next: string | undefined;
  /** How many follow, where that is known without reading them (no selection). */
  readonly remaining: number | undefined;
}

export interface WatchOptions {
  readonly namespace?: string;
  readonly name?: string;
  /** An object that stops matching is DELETED for this watcher, one that starts is ADDED. */
  readonly matches?: Selection;
  /**
   * `initial`: what is there now as ADDED, then changes; with `bookmark` a BOOKMARK with `initialEventsEnd` between the
   * two. `after`: changes only; `CompactedError` (thrown by the first `next`) if history does not reach back that far.
   */
  readonly from:
    | { readonly kind: 'initial'; readonly bookmark: boolean; readonly notOlderThan?: Revision }
    | { readonly kind: 'after'; readonly revision: Revision };
  /** Send a BOOKMARK about once a minute and shortly before the end. */
  readonly bookmarks: boolean;
  readonly signal: AbortSignal;
}

/**
 * A watch in flight. Events wait in a bounded queue; a reader too slow for it gets `SlowReaderError` from `next` and must
 * list again. `next` resolves to at least one event, or `undefined` at the end.
 */
export interface Watch {
  /** Resolves when every change from now on will be told. Never rejects: `next` says what went wrong, and begins a watch that has not. */
  begin(): Promise<void>;
  next(): Promise<readonly WatchEvent[] | undefined>;
  close(): void;
}

export interface ObjectStore {
  /** `at` as in `ObjectListOptions`, without `exact`. */
  get(
    key: string,
    at: { kind: 'newest' } | { kind: 'any' } | { kind: 'notOlderThan'; revision: Revision },
  ): Promise<Entry | undefined>;
  list(options: ObjectListOptions): Promise<ObjectListResult>;
  watch(options: WatchOptions): Watch;
  /**
   * Creates (`expect` 0), replaces or deletes (`bytes` undefined). Resolves when the write is durable and this store's
   * readers see it (or some seconds later, if the backend's watch is slow: those who ask for the newest then wait for it), with the new entry (of a delete: the last state at the deletion's revision). Rejects with
   * `ConflictError`, which carries the current entry if there is one.
   */
  write(write: {
    readonly key: string;
    readonly expect: Revision;
    readonly bytes: Buffer | undefined;
    readonly attributes: Attributes;
    readonly ttlSeconds?: number;
  }): Promise<Entry>;
  /** How many objects it holds. */
  readonly size: number;
  /** True once the cache holds everything the backend had at the start. */
  readonly ready: boolean;
}
