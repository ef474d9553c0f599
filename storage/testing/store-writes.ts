import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConflictError, IncompatibleError } from '../errors.js';
import type { Entry } from '../interface.js';
import type { OpenBackend } from './backend-fixture.js';
import {
  attributesOf,
  bytesOf,
  describeEntry,
  erase,
  keyOf,
  openStore,
  save,
  TestWatch,
  thing,
} from './store-fixture.js';

export function storeWriteTests(open: OpenBackend): void {
  test('a write is visible when it resolves, as the very bytes, and is never parsed', async (t) => {
    const { store, backend, parsed } = await openStore(t, open);
    const object = thing('a');
    const bytes = bytesOf(object);
    const attributes = attributesOf(object);
    const written = await store.write({ key: keyOf(object), expect: 0, bytes, attributes });
    const read = await store.get(keyOf(object), { kind: 'any' });
    assert.equal(read, written);
    assert.equal(read.bytes, bytes);
    assert.equal(read.attributes, attributes);
    assert.equal(read.revision, await backend.currentRevision());
    assert.equal(store.size, 1);
    const changed = await save(store, thing('a', 'blue'));
    assert.ok(changed.revision > written.revision);
    await erase(store, object);
    assert.equal(parsed(), 0);
  });

  test('a deletion answers with the last state at its own revision', async (t) => {
    const { store, backend } = await openStore(t, open);
    await save(store, thing('a', 'blue'));
    const deleted = await erase(store, thing('a'));
    assert.equal(describeEntry(deleted), 'a:blue');
    assert.equal(deleted.revision, await backend.currentRevision());
    assert.equal(await store.get(deleted.key, { kind: 'any' }), undefined);
    assert.equal(store.size, 0);
  });

  test('a conflict says what is there', async (t) => {
    const { store } = await openStore(t, open);
    const object = thing('a', 'blue');
    const current = await save(store, object);
    const write = { key: keyOf(object), bytes: bytesOf(object), attributes: attributesOf(object) };
    const conflict = (entry: Entry | undefined) => (error: unknown) =>
      error instanceof ConflictError && error.current === entry;
    await assert.rejects(store.write({ ...write, expect: 0 }), conflict(current));
    await assert.rejects(store.write({ ...write, expect: current.revision + 5 }), conflict(current));
    await erase(store, object);
    await assert.rejects(store.write({ ...write, expect: current.revision }), conflict(undefined));
  });

  test('of concurrent writes of one object one wins, and the others learn its state', async (t) => {
    const { store } = await openStore(t, open);
    const tries = await Promise.allSettled(
      ['red', 'green', 'blue', 'red'].map((color) => {
        const object = thing('a', color);
        return store.write({
          key: keyOf(object),
          expect: 0,
          bytes: bytesOf(object),
          attributes: attributesOf(object),
        });
      }),
    );
    const [winner, ...others] = tries.flatMap((result) =>
      result.status === 'fulfilled' ? [result.value] : [],
    );
    assert.ok(winner);
    assert.equal(others.length, 0);
    for (const result of tries) {
      if (result.status === 'rejected') {
        assert.ok(result.reason instanceof ConflictError);
        assert.equal(result.reason.current, winner);
      }
    }
  });

  test('what others write to the backend is seen by reads of the newest', async (t) => {
    const { store, backend, parsed } = await openStore(t, open);
    const key = keyOf(thing('a'));
    const { revision } = await backend.write({ key, expect: 0, value: bytesOf(thing('a', 'green')) });
    const entry = await store.get(key, { kind: 'newest' });
    assert.ok(entry);
    assert.equal(describeEntry(entry), 'a:green');
    assert.equal(entry.revision, revision);
    assert.equal(parsed(), 1);
    await backend.write({ key, expect: revision, value: undefined });
    assert.equal((await store.list({ at: { kind: 'newest' } })).entries.length, 0);
  });

  test('the cache begins with what the backend holds', async (t) => {
    const names = Array.from({ length: 1200 }, (_, i) => `n${i}`);
    const { store } = await openStore(t, open, {
      prepare: async (backend) => {
        await backend.write({ key: '/unknown/resource/x', expect: 0, value: Buffer.from('?') });
        await Promise.all(
          names.map((name) =>
            backend.write({ key: keyOf(thing(name)), expect: 0, value: bytesOf(thing(name)) }),
          ),
        );
      },
    });
    assert.equal(store.ready, true);
    assert.equal(store.size, names.length);
    const { entries } = await store.list({ at: { kind: 'any' } });
    assert.deepEqual(
      entries.map(describeEntry),
      names.toSorted().map((name) => `${name}:red`),
    );
  });

  test('an object that can not be read stops the start, by name', async (t) => {
    const broken = openStore(t, open, {
      prepare: async (backend) => {
        await backend.write({ key: keyOf(thing('a')), expect: 0, value: Buffer.from('{') });
      },
    });
    await assert.rejects(
      broken,
      (error) => error instanceof IncompatibleError && /ns\/a/.test(error.message),
    );
  });

  test('an object with a lifetime is deleted for readers and watchers', async (t) => {
    const { store, passSeconds } = await openStore(t, open);
    const object = thing('a');
    const write = { key: keyOf(object), bytes: bytesOf(object), attributes: attributesOf(object) };
    const { revision } = await store.write({ ...write, expect: 0, ttlSeconds: 2 });
    const watch = new TestWatch(store, { from: { kind: 'after', revision } });
    const reading = watch.read(1);
    await passSeconds(5);
    assert.deepEqual(await reading, [`DELETED a:red ${revision + 1}`]);
    assert.equal(await store.get(write.key, { kind: 'any' }), undefined);
  });
}
