import type { Entry, Selection } from '../interface.js';
import { compareKeys, prefixEnd } from '../keys.js';
import type { SortedEntries } from './sorted-entries.js';

export const namespacePrefix = (prefix: string, namespace: string | undefined): string =>
  namespace === undefined ? prefix : `${prefix}${namespace}/`;

interface Scope {
  readonly namespace?: string;
  readonly name?: string;
}

/** Where the keys of a scope are. A name without a namespace may be in any of them. */
export function rangeOf(prefix: string, { namespace, name }: Scope): KeyRange {
  const start = namespacePrefix(prefix, namespace);
  if (namespace === undefined || name === undefined) return { from: start, end: prefixEnd(start) };
  const key = start + name;
  return { from: key, end: behind(key) };
}

/** From `from` (inclusive) to `end` (exclusive; undefined: the last). */
export interface KeyRange {
  readonly from: string;
  readonly end: string | undefined;
}

const behind = (key: string): string => `${key}\0`;

/**
 * Visits in order the entries of a range behind `after`, until `visit` returns false. `then` turns the present into a
 * past state: what its keys held at that time.
 */
export function walkState(
  entries: SortedEntries,
  then: ReadonlyMap<string, Entry | undefined> | undefined,
  range: KeyRange,
  after: string | undefined,
  visit: (entry: Entry) => boolean,
): void {
  const { end } = range;
  const from = after !== undefined && compareKeys(after, range.from) >= 0 ? behind(after) : range.from;
  if (then === undefined || then.size === 0) {
    entries.walk(from, end, visit);
    return;
  }
  const past = [...then.values()]
    .filter((entry) => entry !== undefined)
    .filter(({ key }) => compareKeys(key, from) >= 0 && (end === undefined || compareKeys(key, end) < 0))
    .sort((a, b) => compareKeys(a.key, b.key));
  let next = 0;
  /** Visits what the past has before `key`. */
  const visitPast = (key: string | undefined): boolean => {
    for (let entry = past[next]; entry !== undefined; entry = past[next]) {
      if (key !== undefined && compareKeys(entry.key, key) > 0) return true;
      next++;
      if (!visit(entry)) return false;
    }
    return true;
  };
  const walk = { stopped: false };
  entries.walk(from, end, (entry) => {
    walk.stopped = !visitPast(entry.key) || (!then.has(entry.key) && !visit(entry));
    return !walk.stopped;
  });
  if (!walk.stopped) visitPast(undefined);
}

export interface Page {
  readonly entries: readonly Entry[];
  readonly next: string | undefined;
  readonly remaining: number | undefined;
}

/** The first `limit` entries of a walk that match, and what is known of the rest. */
export function collectPage(
  { limit = Infinity, matches }: { readonly limit?: number; readonly matches?: Selection },
  walk: (visit: (entry: Entry) => boolean) => void,
): Page {
  const entries: Entry[] = [];
  let more = 0;
  walk((entry) => {
    if (matches !== undefined && !matches(entry.attributes)) return true;
    if (entries.length < limit) entries.push(entry);
    else more++;
    // Without a selection the rest is counted; with one, the first further match ends the walk.
    return more === 0 || matches === undefined;
  });
  return {
    entries,
    next: more > 0 ? entries.at(-1)?.key : undefined,
    remaining: matches === undefined ? more : undefined,
  };
}
