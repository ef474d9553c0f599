import type { Entry } from '../interface.js';
import { compareKeys } from '../keys.js';

/** A chunk that grows beyond this is split in two: an insertion moves at most so many references. */
const chunkLength = 512;

/**
 * Entries in the order of their keys: a list of short sorted arrays. Finding costs two binary searches, inserting also the
 * shift of one short array, walking a range nothing more than visiting it.
 */
export class SortedEntries {
  /** None is empty. */
  #chunks: Entry[][] = [];
  #size = 0;

  /** `entries` must be sorted and distinct. */
  static from(entries: readonly Entry[]): SortedEntries {
    const sorted = new SortedEntries();
    for (let i = 0; i < entries.length; i += chunkLength / 2) {
      sorted.#chunks.push(entries.slice(i, i + chunkLength / 2));
    }
    sorted.#size = entries.length;
    return sorted;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): Entry | undefined {
    const chunk = this.#chunks[this.#chunkOf(key)];
    const entry = chunk?.[lowerBound(chunk, key)];
    return entry?.key === key ? entry : undefined;
  }

  /** Returns what it replaced. */
  set(entry: Entry): Entry | undefined {
    const at = Math.min(this.#chunkOf(entry.key), this.#chunks.length - 1);
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#chunks.push([entry]);
      this.#size++;
      return undefined;
    }
    const index = lowerBound(chunk, entry.key);
    const previous = chunk[index];
    if (previous?.key === entry.key) {
      chunk[index] = entry;
      return previous;
    }
    chunk.splice(index, 0, entry);
    this.#size++;
    if (chunk.length > chunkLength) this.#chunks.splice(at + 1, 0, chunk.splice(chunkLength / 2));
    return undefined;
  }

  /** Returns what it removed. */
  delete(key: string): Entry | undefined {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return undefined;
    const index = lowerBound(chunk, key);
    const entry = chunk[index];
    if (entry?.key !== key) return undefined;
    chunk.splice(index, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    this.#size--;
    return entry;
  }

  /** Visits the entries from `from` (inclusive) up to `end` (exclusive, undefined: all) in order, until `visit` returns false. */
  walk(from: string, end: string | undefined, visit: (entry: Entry) => boolean): void {
    const first = this.#chunkOf(from);
    const last = end === undefined ? this.#chunks.length - 1 : this.#chunkOf(end);
    for (let at = first; at <= last; at++) {
      const chunk = this.#chunks[at] ?? [];
      const to = at === last && end !== undefined ? lowerBound(chunk, end) : chunk.length;
      for (let index = at === first ? lowerBound(chunk, from) : 0; index < to; index++) {
        const entry = chunk[index];
        if (entry !== undefined && !visit(entry)) return;
      }
    }
  }

  /** The first chunk that ends at or behind `key`: where it is, if it is anywhere. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const last = this.#chunks[middle]?.at(-1);
      if (last !== undefined && compareKeys(last.key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The index of the first entry whose key is `key` or behind it. */
function lowerBound(chunk: readonly Entry[], key: string): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = chunk[middle];
    if (entry !== undefined && compareKeys(entry.key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
