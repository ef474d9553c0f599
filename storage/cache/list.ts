import type { Entry, Selection } from '../interface.js';
import { compareKeys, prefixEnd } from '../keys.js';
import type { SortedEntries } from './sorted-entries.js';

export const namespacePrefix = (prefix: string, namespace: string | undefined): string =>
  namespace === undefined ? prefix : `${prefix}${namespace}/`;

/**
 * Visits in order the entries under `prefix` behind `after`, until `visit` returns false. `then` turns the present into a
 * past state: what its keys held at that time.
 */
export function walkState(
  entries: SortedEntries,
  then: ReadonlyMap<string, Entry | undefined> | undefined,
  prefix: string,
  after: string | undefined,
  visit: (entry: Entry) => boolean,
): void {
  const from = after !== undefined && compareKeys(after, prefix) >= 0 ? `${after}\0` : prefix;
  const end = prefixEnd(prefix);
  if (then === undefined || then.size === 0) {
    entries.walk(from, end, visit);
    return;
  }
  const past = [...then.values()]
    .filter((entry) => entry !== undefined)
    .filter(({ key }) => key.startsWith(prefix) && compareKeys(key, from) >= 0)
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
