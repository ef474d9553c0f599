import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Entry, ObjectStore, Revision, WatchOptions } from '../interface.js';
import type { OpenBackend } from './backend-fixture.js';
import {
  attributesOf,
  bytesOf,
  describeEntry,
  describeEvent,
  erase,
  isColor,
  keyOf,
  openStore,
  save,
  thing,
  type Thing,
} from './store-fixture.js';

const someThing = fc.record({
  name: fc.constantFrom('a', 'b', 'c'),
  namespace: fc.constantFrom('ns', 'ns-b'),
  color: fc.constantFrom('red', 'blue'),
});
const command = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('save' as const), thing: someThing }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('erase' as const), thing: someThing }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('elsewhere' as const), thing: someThing }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

const scope = fc.record(
  {
    namespace: fc.constantFrom('ns', 'ns-b'),
    name: fc.constantFrom('a', 'b'),
    color: fc.constantFrom('red', 'blue'),
  },
  { requiredKeys: [] },
);
type Scope = typeof scope extends fc.Arbitrary<infer T> ? T : never;

/** Every state there was, and in which order. */
type States = readonly {
  readonly revision: Revision;
  readonly things: ReadonlyMap<string, { thing: Thing; revision: Revision }>;
}[];

export function storeModelTests(open: OpenBackend, numRuns: number): void {
  test('lists, pages and watches agree with a simple model, from any moment on', async (t) => {
    const property = fc.asyncProperty(
      fc.array(command, { minLength: 1, maxLength: 25 }),
      scope,
      fc.integer({ min: 0, max: 8 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 4 }),
      async (commands, where, historyChanges, moment, limit) => {
        const fixture = await openStore(t, open, { limits: { historyChanges } });
        const { store, backend } = fixture;
        const start = await backend.currentRevision();
        let states: States = [];
        // Something in the scope, so that its watches are told of it.
        const marker = { ...thing('a'), ...where };
        let marked: Revision | undefined;
        const live = await told(store, where, start, async () => {
          states = await perform(commands, fixture);
          ({ revision: marked } = await save(store, marker));
          return marked;
        });
        assert.deepEqual(live, eventsBetween(states, start, where));
        const then = states[Math.floor(moment * (states.length - 1))];
        assert.ok(then && marked !== undefined);
        const end = marked;
        const resumed = await told(store, where, then.revision, () => Promise.resolve(end));
        assert.deepEqual(resumed, eventsBetween(states, then.revision, where));
        assert.deepEqual(await paged(store, then.revision, limit, where), describeState(then, where));
        await fixture.set.close();
        await fixture.backend.close();
      },
    );
    await fc.assert(property, { numRuns });
  });
}

async function perform(
  commands: readonly Command[],
  { store, backend }: Awaited<ReturnType<typeof openStore>>,
): Promise<States> {
  const states: States[number][] = [{ revision: await backend.currentRevision(), things: new Map() }];
  for (const { do: action, thing: object } of commands) {
    const key = keyOf(object);
    const things = new Map(states.at(-1)?.things);
    const expect = things.get(key)?.revision ?? 0;
    let revision: Revision;
    if (action === 'erase') {
      if (!things.has(key)) continue;
      ({ revision } = await erase(store, object));
      things.delete(key);
    } else {
      ({ revision } =
        action === 'save'
          ? await save(store, object)
          : await backend.write({ key, expect, value: bytesOf(object) }));
      things.set(key, { thing: object, revision });
    }
    states.push({ revision, things });
  }
  return states;
}

const isIn = (object: Thing, { namespace, name, color }: Scope): boolean =>
  (namespace ?? object.namespace) === object.namespace &&
  (name ?? object.name) === object.name &&
  (color ?? object.color) === object.color;

const entryOf = (object: Thing, revision: Revision): Entry => ({
  key: keyOf(object),
  revision,
  bytes: bytesOf(object),
  attributes: attributesOf(object),
});

/** What a watch of that scope is told after `from`: the difference of each two states. */
function eventsBetween(states: States, from: Revision, where: Scope): string[] {
  return states.flatMap(({ revision, things }, index) => {
    const before = states[index - 1]?.things;
    if (before === undefined || revision <= from) return [];
    return [...new Set([...things.keys(), ...before.keys()])].flatMap((key) => {
      const was = before.get(key);
      const is = things.get(key);
      if (was?.revision === is?.revision) return [];
      const wasIn = was !== undefined && isIn(was.thing, where);
      if (is !== undefined && isIn(is.thing, where)) {
        return describeEvent({ type: wasIn ? 'MODIFIED' : 'ADDED', entry: entryOf(is.thing, revision) });
      }
      return wasIn ? describeEvent({ type: 'DELETED', entry: entryOf(was.thing, revision) }) : [];
    });
  });
}

function describeState({ things }: States[number], where: Scope): string[] {
  return [...things.values()]
    .filter(({ thing: object }) => isIn(object, where))
    .map(({ thing: object, revision }) => entryOf(object, revision))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(describeEntry);
}

const optionsOf = ({ namespace, color }: Scope): Pick<WatchOptions, 'namespace' | 'matches'> => ({
  ...(namespace && { namespace }),
  ...(color && { matches: isColor(color) }),
});

/** Everything a watch tells before `end`, a revision that it is told of. The watch is begun at once. */
async function told(
  store: ObjectStore,
  where: Scope,
  revision: Revision,
  end: () => Promise<Revision>,
): Promise<string[]> {
  const watch = store.watch({
    ...optionsOf(where),
    ...(where.name && { name: where.name }),
    from: { kind: 'after', revision },
    bookmarks: false,
    signal: new AbortController().signal,
  });
  const first = watch.next();
  const last = await end();
  const seen: string[] = [];
  for (let events = await first; events !== undefined; events = await watch.next()) {
    for (const event of events) {
      assert.ok(event.type !== 'BOOKMARK');
      if (event.entry.revision === last) {
        watch.close();
        return seen;
      }
      seen.push(describeEvent(event));
    }
  }
  assert.fail('the watch ended');
}

async function paged(store: ObjectStore, revision: Revision, limit: number, where: Scope): Promise<string[]> {
  const read: string[] = [];
  let after: string | undefined;
  do {
    const page = await store.list({
      ...optionsOf(where),
      at: { kind: 'exact', revision },
      limit,
      ...(after && { after }),
    });
    assert.ok(page.entries.length <= limit);
    const named = page.entries.filter(
      ({ attributes }) => where.name === undefined || attributes.name === where.name,
    );
    read.push(...named.map(describeEntry));
    after = page.next;
  } while (after !== undefined);
  return read;
}
