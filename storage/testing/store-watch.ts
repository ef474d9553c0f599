import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { CompactedError, SlowReaderError } from '../errors.js';
import type { Backend } from '../interface.js';
import { forward, type OpenBackend } from './backend-fixture.js';
import { after, erase, isColor, keyOf, bytesOf, openStore, save, TestWatch, thing } from './store-fixture.js';

export function storeWatchTests(open: OpenBackend): void {
  test('a watch tells what is there, that this was all, and then what changes', async (t) => {
    const { store } = await openStore(t, open);
    const a = await save(store, thing('a'));
    const b = await save(store, thing('b'));
    const watch = new TestWatch(store, { from: { kind: 'initial', bookmark: true } });
    assert.deepEqual(await watch.read(3), [
      `ADDED a:red ${a.revision}`,
      `ADDED b:red ${b.revision}`,
      `BOOKMARK ${b.revision} end`,
    ]);
    const changed = await save(store, thing('a', 'blue'));
    const deleted = await erase(store, thing('b'));
    assert.deepEqual(await watch.read(2), [
      `MODIFIED a:blue ${changed.revision}`,
      `DELETED b:red ${deleted.revision}`,
    ]);
    const plain = new TestWatch(store, { from: { kind: 'initial', bookmark: false, notOlderThan: 0 } });
    const created = await save(store, thing('c'));
    assert.deepEqual(await plain.read(2), [
      `ADDED a:blue ${changed.revision}`,
      `ADDED c:red ${created.revision}`,
    ]);
  });

  test('a watch that has begun misses nothing, however long the backend takes to say what is newest', async (t) => {
    const wrap = (backend: Backend): Backend => ({
      ...forward(backend),
      async currentRevision(signal) {
        await delay(50);
        return backend.currentRevision(signal);
      },
    });
    const { store } = await openStore(t, open, { wrap });
    const a = await save(store, thing('a'));
    for (const notOlderThan of [undefined, 0, a.revision]) {
      const { revision } = await save(store, thing('a'));
      const from = { kind: 'initial', bookmark: false, notOlderThan } as const;
      const watch = new TestWatch(store, { from });
      await Promise.all([watch.begin(), watch.begin()]);
      const gone = await erase(store, thing('a'));
      assert.deepEqual(await watch.read(2), [`ADDED a:red ${revision}`, `DELETED a:red ${gone.revision}`]);
      await watch.begin();
      watch.close();
    }
  });

  test('a watch of nothing says so', async (t) => {
    const { store, backend } = await openStore(t, open);
    const watch = new TestWatch(store, { from: { kind: 'initial', bookmark: true }, namespace: 'none' });
    assert.deepEqual(await watch.read(1), [`BOOKMARK ${await backend.currentRevision()} end`]);
  });

  for (const historyChanges of [1024, 0]) {
    const where = historyChanges > 0 ? 'memory' : "the backend's history";
    test(`a watch resumes from ${where}, then goes on`, async (t) => {
      const { store } = await openStore(t, open, { limits: { historyChanges } });
      const { revision } = await save(store, thing('a'));
      const blue = await save(store, thing('a', 'blue'));
      const other = await save(store, thing('a', 'blue', 'other'));
      const gone = await erase(store, thing('a'));
      const all = new TestWatch(store, { from: after(revision) });
      assert.deepEqual(await all.read(3), [
        `MODIFIED a:blue ${blue.revision}`,
        `ADDED other/a:blue ${other.revision}`,
        `DELETED a:blue ${gone.revision}`,
      ]);
      const scoped = new TestWatch(store, {
        from: after(revision),
        namespace: 'ns',
        matches: isColor('red'),
      });
      assert.deepEqual(await scoped.read(1), [`DELETED a:red ${blue.revision}`]);
      const named = new TestWatch(store, { from: after(revision), name: 'a', matches: isColor('blue') });
      assert.deepEqual(await named.read(3), [
        `ADDED a:blue ${blue.revision}`,
        `ADDED other/a:blue ${other.revision}`,
        `DELETED a:blue ${gone.revision}`,
      ]);
      const again = await save(store, thing('a'));
      assert.deepEqual(await all.read(1), [`ADDED a:red ${again.revision}`]);
      assert.deepEqual(await scoped.read(1), [`ADDED a:red ${again.revision}`]);
      const now = new TestWatch(store, { from: after(again.revision) });
      const next = await save(store, thing('b'));
      assert.deepEqual(await now.read(1), [`ADDED b:red ${next.revision}`]);
    });
  }

  test('what is written while a watch catches up is told once', async (t) => {
    let write = (): Promise<unknown> => Promise.resolve();
    const wrap = (inner: Backend): Backend => ({
      ...forward(inner),
      async *watch(prefix, revision, signal, watchOptions) {
        // Only a watcher that catches up asks for previous values.
        if (watchOptions?.previous !== false) await write();
        yield* inner.watch(prefix, revision, signal, watchOptions);
      },
    });
    const { store, backend } = await openStore(t, open, {
      limits: { historyChanges: 0, queuedEvents: 3 },
      wrap,
    });
    const { revision } = await save(store, thing('a'));
    const b = await save(store, thing('b'));
    // So that the moment when the watch joined is no change of its own.
    await backend.write({ key: '/g/other/x', expect: 0, value: bytesOf(thing('x')) });
    await store.list({ at: { kind: 'newest' } });
    const watch = new TestWatch(store, { from: after(revision) });
    write = () => save(store, thing('c'));
    assert.deepEqual(await watch.read(2), [`ADDED b:red ${b.revision}`, `ADDED c:red ${b.revision + 2}`]);
    // More than the queue holds: by now the watch is fed from it, and from nothing else.
    for (const name of ['d', 'e', 'f', 'g', 'h']) {
      const next = await save(store, thing(name));
      assert.deepEqual(await watch.read(1), [`ADDED ${name}:red ${next.revision}`]);
    }
  });

  test('a watch from the future begins there', async (t) => {
    const { store } = await openStore(t, open);
    const { revision } = await save(store, thing('a'));
    const watch = new TestWatch(store, { from: after(revision + 2), bookmarks: true });
    const reading = watch.read(1);
    await save(store, thing('b'));
    await save(store, thing('c'));
    const d = await save(store, thing('d'));
    assert.deepEqual(await reading, [`ADDED d:red ${d.revision}`]);
  });

  test('a watch from before the history is refused by its first read', async (t) => {
    const { store, backend } = await openStore(t, open, { limits: { historyChanges: 1 } });
    const { revision } = await save(store, thing('a'));
    for (const color of ['blue', 'green', 'red']) await save(store, thing('a', color));
    await backend.compact(await backend.currentRevision());
    await assert.rejects(new TestWatch(store, { from: after(revision) }).read(1), CompactedError);
  });

  test('an object that enters a selection is ADDED, one that leaves it DELETED in its last state', async (t) => {
    const { store } = await openStore(t, open);
    const watch = new TestWatch(store, {
      from: { kind: 'initial', bookmark: false },
      matches: isColor('blue'),
    });
    const reading = watch.read(4);
    await save(store, thing('a', 'red'));
    const entered = await save(store, thing('a', 'blue'));
    const changed = await save(store, thing('a', 'blue'));
    const left = await save(store, thing('a', 'red'));
    await save(store, thing('a', 'green'));
    const back = await save(store, thing('a', 'blue'));
    assert.deepEqual(await reading, [
      `ADDED a:blue ${entered.revision}`,
      `MODIFIED a:blue ${changed.revision}`,
      `DELETED a:blue ${left.revision}`,
      `ADDED a:blue ${back.revision}`,
    ]);
  });

  test('a watch is told only of its namespace and name', async (t) => {
    const { store } = await openStore(t, open);
    const { revision } = await save(store, thing('other'));
    const scopes = [{}, { namespace: 'ns' }, { name: 'a' }, { namespace: 'ns', name: 'a' }];
    const watches = scopes.map(
      (scope) => new TestWatch(store, { ...scope, from: after(revision), bookmarks: true }),
    );
    const readings = watches.map((watch) => watch.read(1));
    const revisions: number[] = [];
    for (const [name, namespace] of [
      ['a', 'ns'],
      ['b', 'ns'],
      ['a', 'two'],
      ['b', 'two'],
    ] as const) {
      revisions.push((await save(store, thing(name, 'red', namespace))).revision);
    }
    await Promise.all(readings);
    watches.forEach((watch) => watch.abort());
    const rest = await Promise.all(watches.map((watch) => watch.readAll()));
    const [, r1, r2, r3] = revisions;
    const end = `BOOKMARK ${r3}`;
    assert.deepEqual(rest, [
      [`ADDED b:red ${r1}`, `ADDED two/a:red ${r2}`, `ADDED two/b:red ${r3}`, end],
      [`ADDED b:red ${r1}`, end],
      [`ADDED two/a:red ${r2}`, end],
      [end],
    ]);
  });

  test('a reader who does not keep up is told so', async (t) => {
    const { store } = await openStore(t, open, { limits: { queuedEvents: 5 } });
    const { revision } = await save(store, thing('a'));
    const slow = new TestWatch(store, { from: after(revision) });
    const first = slow.read(1);
    await save(store, thing('a', 'blue'));
    await first;
    for (let i = 0; i < 6; i++) await save(store, thing('a', `${i}`));
    await assert.rejects(slow.read(1), SlowReaderError);
    await assert.rejects(slow.read(1), SlowReaderError);
  });

  test('bookmarks come by themselves, and last when the watch is ended', async (t) => {
    const { store, backend, clock } = await openStore(t, open);
    const { revision } = await save(store, thing('a'));
    const watch = new TestWatch(store, { from: after(revision), bookmarks: true });
    const without = new TestWatch(store, { from: after(revision) });
    const reading = watch.read(2);
    const b = await save(store, thing('b'));
    assert.deepEqual(await without.read(1), [`ADDED b:red ${b.revision}`]);
    clock.advance(60_000);
    assert.deepEqual(await reading, [`ADDED b:red ${b.revision}`, `BOOKMARK ${b.revision}`]);
    const key = '/g/unknown/x';
    const other = await backend.write({ key, expect: 0, value: bytesOf(thing('x')) });
    await store.list({ at: { kind: 'newest' } });
    const ending = watch.readAll();
    const silent = without.readAll();
    watch.abort();
    without.abort();
    assert.deepEqual(await ending, [`BOOKMARK ${other.revision}`]);
    assert.deepEqual(await silent, []);
  });

  test('a watch ends when it is closed, when its signal aborts and when the cache closes', async (t) => {
    const { store, set } = await openStore(t, open);
    const { revision } = await save(store, thing('a'));
    const watches = [1, 2, 3].map(() => new TestWatch(store, { from: after(revision) }));
    const [closed, aborted, left] = watches.map((watch) => watch.readAll());
    await save(store, thing('a', 'blue'));
    watches[0]?.close();
    watches[1]?.abort();
    await Promise.all([closed, aborted]);
    await set.close();
    assert.equal((await left)?.length, 1);
    const fresh = new TestWatch(store, { from: { kind: 'initial', bookmark: false } });
    fresh.abort();
    assert.deepEqual(await fresh.readAll(), []);
  });

  test('writes of others reach watchers too', async (t) => {
    const { store, backend } = await openStore(t, open);
    const watch = new TestWatch(store, { from: { kind: 'initial', bookmark: true } });
    await watch.read(1);
    const { revision } = await backend.write({
      key: keyOf(thing('a')),
      expect: 0,
      value: bytesOf(thing('a')),
    });
    assert.deepEqual(await watch.read(1), [`ADDED a:red ${revision}`]);
  });
}
