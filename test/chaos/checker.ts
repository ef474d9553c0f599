/** Whether what clients were told agrees with what happened. Each function returns a line for each violation. */
import type { Revision } from '../../storage/interface.js';
import type { History, ReadRecord, Version, WatchRecord, WriteRecord } from './history.js';
import type { TrueEvent } from './truth.js';

export function check(history: History, truth: readonly TrueEvent[]): string[] {
  return [
    ...checkOrder(truth),
    ...checkWrites(history.writes, truth),
    ...checkLists(history.reads, truth),
    ...checkGets(history.reads, truth),
    ...history.watches.flatMap((watch) => checkWatch(watch, truth)),
  ];
}

/** A revision is one change of one object: who has seen it has seen everything until then. */
export function checkOrder(truth: readonly TrueEvent[]): string[] {
  return truth.flatMap(({ revision }, index) =>
    revision > (truth[index - 1]?.revision ?? 0) ? [] : [`revision ${revision} comes twice, or too late`],
  );
}

/** An acknowledged write is there, once, where its answer says, on top of what it was to replace. A refused one is not. */
export function checkWrites(writes: readonly WriteRecord[], truth: readonly TrueEvent[]): string[] {
  const marked = new Map<string, TrueEvent[]>();
  const deletions = new Map<string, TrueEvent>();
  for (const event of truth) {
    if (event.type === 'DELETED') deletions.set(event.version.uid, event);
    else for (const operation of newMarks(event)) append(marked, operation, event);
  }
  const operations = new Set(writes.map(({ operation }) => operation));
  const strange = [...marked.keys()].filter((operation) => !operations.has(operation));
  return [
    ...strange.map((operation) => `${operation} was written, though nobody asked for it`),
    ...truth.flatMap(checkMarks),
    ...writes.flatMap((write) =>
      write.verb === 'delete'
        ? checkDeletion(write, deletions)
        : checkWrite(write, marked.get(write.operation) ?? []),
    ),
  ];
}

function checkWrite(write: WriteRecord, events: readonly TrueEvent[]): string[] {
  const { outcome, expected, known, version } = write;
  const name = `${write.verb} ${write.operation} of ${write.name}`;
  const [event, again] = events;
  if (again !== undefined)
    return [`${name} was done twice, at ${event?.revision ?? 0} and ${again.revision}`];
  if (outcome === 'refused')
    return event === undefined ? [] : [`${name} was refused, and done at ${event.revision}`];
  if (event === undefined) return outcome === 'done' ? [`${name} was acknowledged, and is lost`] : [];
  const faults: string[] = [];
  if (version !== undefined && version.revision !== event.revision)
    faults.push(`${name} was done at ${event.revision}, and acknowledged at ${version.revision}`);
  if (event.revision <= known)
    faults.push(`${name} was done at ${event.revision}, though ${known} was known before`);
  if ((write.verb === 'create') !== (event.previous === undefined))
    faults.push(`${name} met the wrong state`);
  if (expected?.revision !== undefined && event.previous?.revision !== expected.revision)
    faults.push(`${name} replaced ${event.previous?.revision ?? 0} instead of ${expected.revision}`);
  return faults;
}

function checkDeletion(
  { outcome, name, known, expected }: WriteRecord,
  deletions: ReadonlyMap<string, TrueEvent>,
): string[] {
  if (outcome !== 'done') return [];
  const event = deletions.get(expected?.uid ?? '');
  if (event === undefined) return [`the deletion of ${name} was acknowledged, and is lost`];
  return event.revision > known
    ? []
    : [
        `the deletion of ${name} was acknowledged, though it was gone before: at ${event.revision} of ${known}`,
      ];
}

/** A write adds its own mark and leaves those of others alone. */
function checkMarks(event: TrueEvent): string[] {
  if (event.type === 'DELETED') return [];
  const before = event.previous?.marks ?? {};
  const lost = Object.keys(before).filter((writer) => event.version.marks[writer] === undefined);
  const faults = lost.map((writer) => `revision ${event.revision} lost the mark of ${writer}`);
  const added = newMarks(event);
  if (added.length !== 1)
    faults.push(`revision ${event.revision} carries ${added.length} new marks: ${added.join()}`);
  return faults;
}

const newMarks = ({ version, previous }: TrueEvent): string[] =>
  Object.entries(version.marks)
    .filter(([writer, operation]) => previous?.marks[writer] !== operation)
    .map(([, operation]) => operation);

/** A list is the state at its revision, which is none before what its client could know of. */
export function checkLists(reads: readonly ReadRecord[], truth: readonly TrueEvent[]): string[] {
  const faults: string[] = [];
  const state = new Map<string, Version>();
  let at = 0;
  const lists = reads.flatMap(({ result, ...read }) =>
    result.kind === 'list' ? [{ ...read, ...result }] : [],
  );
  for (const { known, replica, revision, versions } of lists.sort((a, b) => a.revision - b.revision)) {
    for (let event = truth[at]; event !== undefined && event.revision <= revision; event = truth[++at]) {
      if (event.type === 'DELETED') state.delete(event.name);
      else state.set(event.name, event.version);
    }
    const name = `list of replica ${replica} at ${revision}`;
    if (revision < known) faults.push(`${name} is stale: ${known} was known before`);
    const shown = describe(versions);
    const real = describe([...state.values()]);
    if (shown !== real) faults.push(`${name} shows ${shown} instead of ${real}`);
  }
  return faults;
}

/** A get shows what was there when it was asked for, or later. */
export function checkGets(reads: readonly ReadRecord[], truth: readonly TrueEvent[]): string[] {
  const events = new Map<string, TrueEvent[]>();
  for (const event of truth) append(events, event.name, event);
  return reads.flatMap(({ result, known, replica }) => {
    if (result.kind !== 'get') return [];
    const ofName = events.get(result.name) ?? [];
    const before = ofName.findLast(({ revision }) => revision <= known);
    const later = ofName.filter(({ revision }) => revision > known);
    const possible = [before, ...later].map((event) =>
      event === undefined || event.type === 'DELETED' ? 0 : event.revision,
    );
    const shown = result.version?.revision ?? 0;
    return possible.includes(shown)
      ? []
      : [
          `get of ${result.name} from replica ${replica} shows ${shown}, though ${known} was known before: it must be one of ${possible.join()}`,
        ];
  });
}

/** A watch tells every change behind its beginning, in order, once; a bookmark that there was nothing else until then. */
export function checkWatch({ watcher, from, events }: WatchRecord, truth: readonly TrueEvent[]): string[] {
  let next = truth.findIndex(({ revision }) => revision > from);
  if (next === -1) next = truth.length;
  let position: Revision = from;
  for (const { type, revision, name } of events) {
    const expected = truth[next];
    const said = `${watcher} behind ${position} was told ${type} ${name} ${revision}`;
    if (type === 'BOOKMARK') {
      if (revision < position) return [`${said}: that is behind it`];
      if (expected !== undefined && expected.revision <= revision)
        return [`${said}, and not of ${expected.type} ${expected.name} ${expected.revision}`];
    } else {
      if (expected === undefined) return [`${said}, and nothing was left to tell`];
      if (expected.type !== type || expected.name !== name || expected.revision !== revision)
        return [`${said}, but next was ${expected.type} ${expected.name} ${expected.revision}`];
      next++;
    }
    position = revision;
  }
  return [];
}

const describe = (versions: readonly Version[]): string =>
  versions
    .map(({ name, revision }) => `${name}@${revision}`)
    .sort()
    .join(' ');

function append<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
