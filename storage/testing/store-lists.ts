import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompactedError, FutureRevisionError } from '../errors.js';
import type { Attributes, ObjectListOptions, ObjectStore } from '../interface.js';
import type { OpenBackend } from './backend-fixture.js';
import { describeEntry, erase, isColor, openStore, save, thing } from './store-fixture.js';

/** All pages of the newest state, each described. */
async function readPages(
  store: ObjectStore,
  options: Omit<ObjectListOptions, 'at' | 'after'>,
  between: () => Promise<unknown>,
): Promise<string[]> {
  let page = await store.list({ ...options, at: { kind: 'newest' } });
  const { revision } = page;
  const read = page.entries.map(describeEntry);
  while (page.next !== undefined) {
    await between();
    page = await store.list({ ...options, at: { kind: 'exact', revision }, after: page.next });
    assert.equal(page.revision, revision);
    read.push(...page.entries.map(describeEntry));
  }
  return read;
}

export function listTests(open: OpenBackend): void {
  test('a list keeps to its namespace and selection', async (t) => {
    const { store } = await openStore(t, open);
    await save(store, thing('a', 'red', 'one'));
    await save(store, thing('b', 'blue', 'one'));
    await save(store, thing('a', 'blue', 'one-more'));
    await save(store, thing('a', 'blue', 'two'));
    const list = async (options: Omit<ObjectListOptions, 'at'>): Promise<string[]> =>
      (await store.list({ ...options, at: { kind: 'newest' } })).entries.map(describeEntry);
    assert.deepEqual(await list({}), ['one-more/a:blue', 'one/a:red', 'one/b:blue', 'two/a:blue']);
    assert.deepEqual(await list({ namespace: 'one' }), ['one/a:red', 'one/b:blue']);
    assert.deepEqual(await list({ namespace: 'none' }), []);
    assert.deepEqual(await list({ matches: isColor('blue') }), [
      'one-more/a:blue',
      'one/b:blue',
      'two/a:blue',
    ]);
    assert.deepEqual(await list({ namespace: 'one', matches: isColor('blue') }), ['one/b:blue']);
  });

  test('a name that is the only one to match is found as all are searched, now and then', async (t) => {
    const { store, backend } = await openStore(t, open);
    await save(store, thing('a', 'red', 'one'));
    await save(store, thing('a-b', 'red', 'one'));
    await save(store, thing('a', 'red', 'two'));
    const revision = await backend.currentRevision();
    await erase(store, thing('a', 'red', 'one'));
    await save(store, thing('b', 'red', 'one'));
    const matches = ({ name }: Attributes): boolean => name === 'a';
    for (const at of [{ kind: 'newest' }, { kind: 'exact', revision }] as const)
      for (const scope of [{ namespace: 'one' }, { namespace: 'two' }, {}]) {
        const named = await store.list({ ...scope, name: 'a', matches, at });
        const { entries } = await store.list({ ...scope, matches, at });
        assert.deepEqual(named.entries, entries);
      }
  });

  test('a page says where it ends and how many follow, if that is known', async (t) => {
    const { store, backend } = await openStore(t, open);
    for (const name of ['a', 'b', 'c', 'd']) await save(store, thing(name, name < 'c' ? 'red' : 'blue'));
    const first = await store.list({ limit: 3, at: { kind: 'newest' } });
    assert.equal(first.next, '/g/things/ns/c');
    assert.equal(first.remaining, 1);
    assert.equal(first.revision, await backend.currentRevision());
    const last = await store.list({
      limit: 3,
      at: { kind: 'exact', revision: first.revision },
      after: first.next,
    });
    assert.deepEqual(last.entries.map(describeEntry), ['d:blue']);
    assert.deepEqual([last.next, last.remaining], [undefined, 0]);
    const selected = await store.list({ limit: 1, matches: isColor('blue'), at: { kind: 'newest' } });
    assert.deepEqual([selected.next, selected.remaining], ['/g/things/ns/c', undefined]);
    const all = await store.list({ limit: 2, matches: isColor('blue'), at: { kind: 'newest' } });
    assert.deepEqual([all.entries.length, all.next], [2, undefined]);
  });

  for (const historyChanges of [1024, 0]) {
    const where = historyChanges > 0 ? 'memory' : "the backend's history";
    test(`pages from ${where} show one state, whatever is written meanwhile`, async (t) => {
      const { store } = await openStore(t, open, { limits: { historyChanges } });
      for (const name of ['a', 'c', 'e', 'g', 'i', 'k', 'm'])
        await save(store, thing(name, 'red', name < 'h' ? 'x' : 'y'));
      const state = ['x/a:red', 'x/c:red', 'x/e:red', 'x/g:red', 'y/i:red', 'y/k:red', 'y/m:red'];
      const changes = [
        () => save(store, thing('b', 'blue', 'x')),
        () => erase(store, thing('e', 'red', 'x')),
        () => save(store, thing('g', 'blue', 'x')),
        () => save(store, thing('e', 'blue', 'x')),
        () => save(store, thing('z', 'red', 'y')),
        () => erase(store, thing('m', 'red', 'y')),
      ];
      const change = async (): Promise<unknown> => await changes.shift()?.();
      assert.deepEqual(await readPages(store, { limit: 1 }, change), state);
      const { revision } = await store.list({ at: { kind: 'newest' } });
      await save(store, thing('c', 'blue', 'x'));
      await erase(store, thing('z', 'red', 'y'));
      const at = { kind: 'exact', revision } as const;
      const selected = await store.list({ at, namespace: 'x', matches: isColor('red') });
      assert.deepEqual(selected.entries.map(describeEntry), ['x/a:red', 'x/c:red']);
      const limited = await store.list({ at, matches: isColor('red'), limit: 3 });
      assert.deepEqual(limited.entries.map(describeEntry), ['x/a:red', 'x/c:red', 'y/i:red']);
      assert.equal(limited.next, '/g/things/y/i');
      const rest = await store.list({ at, matches: isColor('red'), limit: 3, after: '/g/things/y/i' });
      assert.deepEqual(rest.entries.map(describeEntry), ['y/k:red', 'y/z:red']);
      assert.equal(rest.next, undefined);
    });
  }

  test('an exact read of compacted history is refused', async (t) => {
    const { store, backend } = await openStore(t, open, { limits: { historyChanges: 1 } });
    const { revision } = await save(store, thing('a'));
    await save(store, thing('b'));
    await save(store, thing('c'));
    await backend.compact(await backend.currentRevision());
    await assert.rejects(store.list({ at: { kind: 'exact', revision } }), CompactedError);
  });

  test('a read waits for a revision that is on its way, and not for ever', async (t) => {
    const { store, clock } = await openStore(t, open);
    const { revision } = await save(store, thing('a'));
    const reading = store.list({ at: { kind: 'notOlderThan', revision: revision + 1 } });
    await save(store, thing('b'));
    assert.equal((await reading).entries.length, 2);
    for (const read of [
      store.list({ at: { kind: 'notOlderThan', revision: revision + 100 } }),
      store.get('/g/things/ns/a', { kind: 'notOlderThan', revision: revision + 100 }),
      store.list({ at: { kind: 'exact', revision: revision + 100 } }),
    ]) {
      const refused = assert.rejects(read, FutureRevisionError);
      await Promise.resolve();
      clock.advance(60_000);
      await refused;
    }
  });
}
