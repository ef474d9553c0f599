/** A check that can not fail proves nothing: each kind of lie is found. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from './checker.js';
import {
  History,
  type ReadRecord,
  type Version,
  type WatchedEvent,
  type WatchRecord,
  type WriteRecord,
} from './history.js';
import type { TrueEvent } from './truth.js';

const version = (revision: number, marks: Record<string, string>): Version => ({
  name: 'a',
  uid: 'u',
  revision,
  marks,
});
const v2 = version(2, { x: 'x-0' });
const v4 = version(4, { x: 'x-0', y: 'y-0' });
const truth: readonly TrueEvent[] = [
  { type: 'ADDED', revision: 2, name: 'a', version: v2, previous: undefined },
  { type: 'MODIFIED', revision: 4, name: 'a', version: v4, previous: v2 },
  { type: 'DELETED', revision: 6, name: 'a', version: v4, previous: v4 },
];
const create: WriteRecord = {
  ...{ verb: 'create', writer: 'x', operation: 'x-0', name: 'a' },
  ...{ known: 1, outcome: 'done', version: v2 },
};
const update: WriteRecord = {
  ...{ verb: 'update', writer: 'y', operation: 'y-0', name: 'a', expected: { uid: 'u', revision: 2 } },
  ...{ known: 2, outcome: 'done', version: v4 },
};
const deletion: WriteRecord = {
  ...{ verb: 'delete', writer: 'x', operation: 'x-1', name: 'a', expected: { uid: 'u' } },
  ...{ known: 4, outcome: 'done' },
};
const list = (known: number, revision: number, ...versions: Version[]): ReadRecord => ({
  known,
  replica: 0,
  result: { kind: 'list', revision, versions },
});
const get = (known: number, found: Version | undefined): ReadRecord => ({
  known,
  replica: 0,
  result: { kind: 'get', name: 'a', version: found },
});
const told = (type: WatchedEvent['type'], revision: number): WatchedEvent => ({ type, revision, name: 'a' });
const watched = (from: number, ...events: WatchedEvent[]): WatchRecord => ({ watcher: 'w', from, events });

interface Told {
  readonly writes?: readonly WriteRecord[];
  readonly reads?: readonly ReadRecord[];
  readonly watches?: readonly WatchRecord[];
  readonly truth?: readonly TrueEvent[];
}

function faults({
  writes = [create, update, deletion],
  reads = [],
  watches = [],
  truth: events = truth,
}: Told): string[] {
  const history = new History();
  history.writes.push(...writes);
  history.reads.push(...reads);
  history.watches.push(...watches);
  return check(history, events);
}

test('what agrees with history has no faults', () => {
  const reads = [
    list(0, 1),
    list(2, 3, v2),
    list(4, 5, v4),
    list(6, 7),
    get(2, v2),
    get(2, v4),
    get(2, undefined),
  ];
  const watches = [
    watched(1, told('ADDED', 2), told('BOOKMARK', 3), told('MODIFIED', 4), told('DELETED', 6)),
    watched(4, told('BOOKMARK', 5)),
  ];
  assert.deepEqual(faults({ reads, watches }), []);
  assert.deepEqual(faults({ writes: [{ ...create, outcome: 'unknown' }, update, deletion] }), []);
});

const other = { ...create, operation: 'z-0' };
const lies: Readonly<Record<string, { readonly told: Told; readonly fault: RegExp }>> = {
  'a write that is lost': { told: { writes: [create, update, deletion, other] }, fault: /z-0 .* is lost/ },
  'a deletion that is lost': {
    told: { writes: [create, update, { ...deletion, expected: { uid: 'other' } }] },
    fault: /deletion of a .* is lost/,
  },
  'a deletion of what is gone': {
    told: { writes: [create, update, { ...deletion, known: 6 }] },
    fault: /gone before/,
  },
  'a refusal of what was done': {
    told: { writes: [create, { ...update, outcome: 'refused' }, deletion] },
    fault: /y-0 of a was refused, and done at 4/,
  },
  'a wrong revision of a write': {
    told: { writes: [{ ...create, version: version(3, {}) }, update, deletion] },
    fault: /done at 2, and acknowledged at 3/,
  },
  'a revision that goes back': {
    told: { writes: [{ ...create, known: 2 }, update, deletion] },
    fault: /2 was known before/,
  },
  'an update of something newer': {
    told: { writes: [create, { ...update, expected: { uid: 'u', revision: 1 } }, deletion] },
    fault: /replaced 2 instead of 1/,
  },
  'a creation of what is there': {
    told: { writes: [create, { ...update, verb: 'create' }, deletion] },
    fault: /met the wrong state/,
  },
  'a write that nobody asked for': { told: { writes: [create, deletion] }, fault: /y-0 was written, though/ },
  'a write done twice': {
    told: { truth: [...truth, { ...truth[0], revision: 8 } as TrueEvent] },
    fault: /x-0 of a was done twice, at 2 and 8/,
  },
  'an update that is overwritten': {
    told: {
      truth: truth.map((event) =>
        event.revision === 4 ? { ...event, version: version(4, { y: 'y-0' }) } : event,
      ),
    },
    fault: /revision 4 lost the mark of x/,
  },
  'two changes of one revision': {
    told: { truth: truth.map((event) => (event.revision === 6 ? { ...event, revision: 4 } : event)) },
    fault: /revision 4 comes twice/,
  },
  'a stale list': { told: { reads: [list(4, 3, v2)] }, fault: /at 3 is stale: 4/ },
  'a list without an object': { told: { reads: [list(2, 3)] }, fault: /shows {2}instead of a@2/ },
  'a list with an object that is gone': { told: { reads: [list(6, 7, v4)] }, fault: /shows a@4 instead of/ },
  'a stale get': { told: { reads: [get(4, v2)] }, fault: /shows 2, though 4 was known/ },
  'a get of nothing': {
    told: { reads: [get(2, undefined)], truth: truth.slice(0, 2) },
    fault: /shows 0, though 2/,
  },
  'a get of what is gone': { told: { reads: [get(6, v4)] }, fault: /shows 4, though 6/ },
  'a watch that skips': { told: { watches: [watched(1, told('MODIFIED', 4))] }, fault: /next was ADDED a 2/ },
  'a watch that repeats': {
    told: { watches: [watched(1, told('ADDED', 2), told('ADDED', 2))] },
    fault: /next was MODIFIED a 4/,
  },
  'a watch that calls a change by another name': {
    told: { watches: [watched(2, told('ADDED', 4))] },
    fault: /next was MODIFIED/,
  },
  'a watch that tells of nothing': {
    told: { watches: [watched(6, told('ADDED', 8))] },
    fault: /nothing was left/,
  },
  'a bookmark ahead of events': {
    told: { watches: [watched(1, told('BOOKMARK', 3))] },
    fault: /and not of ADDED a 2/,
  },
  'a bookmark that goes back': {
    told: { watches: [watched(4, told('BOOKMARK', 3))] },
    fault: /that is behind it/,
  },
};

for (const [lie, { told: claims, fault }] of Object.entries(lies)) {
  test(`found: ${lie}`, () => {
    const found = faults(claims);
    assert.ok(
      found.some((line) => fault.test(line)),
      found.join('\n') || 'no fault was found',
    );
  });
}
