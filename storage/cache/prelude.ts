import type { Backend, Entry, KeyValue, Revision, WatchEvent, WatchOptions } from '../interface.js';
import type { ChangeLog } from './change-log.js';
import { Change } from './change.js';
import type { ReadAt } from './freshness.js';
import type { Watcher } from './watcher.js';
import { inScope } from './watchers.js';
import { namespacePrefix } from './list.js';

/** What watches are started from. */
export interface WatchSource {
  readonly backend: Backend;
  readonly prefix: string;
  /** Waits until the cache is that fresh. */
  await(at: ReadAt, signal: AbortSignal): Promise<void>;
  revision(): Revision;
  log(): ChangeLog;
  /** Feeds the watcher the changes behind `position`. */
  add(watcher: Watcher, position: Revision): void;
  walk(options: WatchOptions, visit: (entry: Entry) => boolean): void;
  entryOf(kv: KeyValue): Entry;
}

/** So many initial events are made at once. */
const slice = 500;

/** Everything there is as ADDED. */
export async function* fromInitial(
  source: WatchSource,
  watcher: Watcher,
  from: Extract<WatchOptions['from'], { kind: 'initial' }>,
  signal: AbortSignal,
): AsyncGenerator<readonly WatchEvent[], void> {
  const { notOlderThan } = from;
  await source.await(
    notOlderThan === undefined ? { kind: 'newest' } : { kind: 'notOlderThan', revision: notOlderThan },
    signal,
  );
  if (signal.aborted) return;
  const revision = source.revision();
  const entries: Entry[] = [];
  const { options } = watcher;
  source.walk(options, (entry) => {
    if (inScope(entry.attributes, options) && options.matches?.(entry.attributes) !== false)
      entries.push(entry);
    return true;
  });
  source.add(watcher, revision);
  for (let i = 0; i < entries.length; i += slice) {
    yield entries.slice(i, i + slice).map((entry) => ({ type: 'ADDED', entry }));
  }
  if (from.bookmark) yield [{ type: 'BOOKMARK', revision, initialEventsEnd: true }];
}

/** Every change behind `after`: from memory if it reaches back that far, else from the backend's history. */
export async function* fromRevision(
  source: WatchSource,
  watcher: Watcher,
  after: Revision,
  signal: AbortSignal,
): AsyncGenerator<readonly WatchEvent[], void> {
  await source.await({ kind: 'any' }, signal);
  if (signal.aborted) return;
  const joined = source.revision();
  source.add(watcher, Math.max(after, joined));
  if (after >= joined) return;
  const log = source.log();
  if (after >= log.base) yield eventsFor(watcher, log.since(after));
  else yield* fromHistory(source, watcher, after, joined, signal);
}

async function* fromHistory(
  source: WatchSource,
  watcher: Watcher,
  after: Revision,
  upTo: Revision,
  signal: AbortSignal,
): AsyncGenerator<readonly WatchEvent[], void> {
  const prefix = namespacePrefix(source.prefix, watcher.options.namespace);
  for await (const { revision, events } of source.backend.watch(prefix, after, signal)) {
    if (revision > upTo) return;
    const changes = events.map(({ type, kv, previous }) => {
      const before = previous && source.entryOf(previous);
      return new Change(revision, before, type === 'put' ? source.entryOf(kv) : undefined);
    });
    yield eventsFor(watcher, changes);
    if (revision === upTo) return;
    if (events.length === 0) source.backend.requestProgress?.();
  }
}

function eventsFor(watcher: Watcher, changes: readonly Change[]): WatchEvent[] {
  const { options } = watcher;
  return changes.flatMap((change) => {
    if (change.entry === undefined || !inScope(change.entry.attributes, options)) return [];
    return change.eventFor(options.matches) ?? [];
  });
}
