import type { Attributes } from '../interface.js';

/** Bounds of the watch cache. */
export interface CacheLimits {
  /** Changes of one resource kept in memory; watches from before are served from the backend's history. */
  readonly historyChanges: number;
  /** Bytes of objects that those changes may hold on to. */
  readonly historyBytes: number;
  /** Events that wait for one watcher before it is given up as too slow. */
  readonly queuedEvents: number;
  /** How long a read waits for a revision that the cache has not reached. */
  readonly readWaitMilliseconds: number;
  /** How long the backend's watch may take to tell of a write before it is asked how far it is. */
  readonly watchLagMilliseconds: number;
  /** How long a write that is done waits until the cache shows it; then it is answered all the same. */
  readonly writeWaitMilliseconds: number;
  readonly bookmarkMilliseconds: number;
  /** How soon after some changes a watcher may be told the next ones. */
  readonly gatherMilliseconds: number;
}

export const defaultLimits: CacheLimits = {
  historyChanges: 1024,
  historyBytes: 4 * 1024 * 1024,
  queuedEvents: 4096,
  readWaitMilliseconds: 3000,
  watchLagMilliseconds: 1000,
  writeWaitMilliseconds: 4000,
  bookmarkMilliseconds: 60_000,
  gatherMilliseconds: 10,
};

export interface StoreOptions {
  /** Where the objects of this resource are: `/<group>/<resource>/`. */
  readonly prefix: string;
  /**
   * Reads what the cache must know from an object's bytes: when the cache fills, and for changes that did not come
   * through this store. Throws if the bytes are no object.
   */
  attributesOf(key: string, bytes: Buffer): Attributes;
}
