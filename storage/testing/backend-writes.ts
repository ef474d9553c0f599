import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConflictError, UnavailableError } from '../errors.js';
import type { KeyValue } from '../interface.js';
import { bytes, put, readUntil, remove, type OpenBackend } from './backend-fixture.js';

export function writeTests(open: OpenBackend): void {
  test('a write can be read back, with its revisions', async (t) => {
    const { backend } = await open(t);
    const before = await backend.currentRevision();
    const created = await put(backend, '/g/r/a', 0, 'one');
    assert.ok(created > before);
    const changed = await put(backend, '/g/r/a', created, 'two');
    assert.ok(changed > created);
    assert.equal(await backend.currentRevision(), changed);
    const { revision, kv } = await backend.get('/g/r/a');
    assert.equal(revision, changed);
    assert.deepEqual(kv, {
      key: '/g/r/a',
      value: bytes('two'),
      modRevision: changed,
      createRevision: created,
    });
  });

  test('a deleted key is gone, and begins anew when created again', async (t) => {
    const { backend } = await open(t);
    const created = await put(backend, '/g/r/a', 0, 'one');
    const deleted = await remove(backend, '/g/r/a', created);
    assert.ok(deleted > created);
    assert.deepEqual(await backend.get('/g/r/a'), { revision: deleted, kv: undefined });
    const again = await put(backend, '/g/r/a', 0, 'new');
    assert.equal((await backend.get('/g/r/a')).kv?.createRevision, again);
  });

  test('a write that expects something else changes nothing and says what is there', async (t) => {
    const { backend } = await open(t);
    const created = await put(backend, '/g/r/a', 0, 'one');
    const conflicts: [string, number, Buffer | undefined, string | undefined][] = [
      ['/g/r/a', 0, bytes('x'), 'one'],
      ['/g/r/a', created + 1000, bytes('x'), 'one'],
      ['/g/r/a', 0, undefined, 'one'],
      ['/g/r/none', created, bytes('x'), undefined],
      ['/g/r/none', created, undefined, undefined],
      ['/g/r/none', 0, undefined, undefined],
    ];
    for (const [key, expect, value, current] of conflicts) {
      await assert.rejects(backend.write({ key, expect, value }), (error) => {
        assert.ok(error instanceof ConflictError);
        assert.equal(error.key, key);
        assert.equal((error.current as KeyValue | undefined)?.value.toString(), current);
        return true;
      });
    }
    assert.equal(await backend.currentRevision(), created);
  });

  test('keys that could not be told apart or stored are refused', async (t) => {
    const { backend } = await open(t);
    for (const key of ['', 'g/r/a', '/g/r/\0', '/g/r/\ud800', `/${'x'.repeat(5000)}`]) {
      await assert.rejects(backend.write({ key, expect: 0, value: bytes('x') }), RangeError);
    }
  });

  test('values of any size and content come back as they were', async (t) => {
    const { backend } = await open(t);
    const values = [bytes(''), Buffer.from([0, 255, 0]), Buffer.alloc(1024 * 1024, 'long')];
    for (const [i, value] of values.entries()) {
      const key = `/g/r/größe-${i}-😀`;
      await backend.write({ key, expect: 0, value });
      const { kv } = await backend.get(key);
      assert.ok(kv);
      assert.ok(kv.value.equals(value));
      assert.equal(kv.key, key);
    }
  });

  test('of concurrent writes that expect the same, exactly one happens', async (t) => {
    const { backend } = await open(t);
    let expect = 0;
    for (let round = 0; round < 5; round++) {
      const tries = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => put(backend, '/g/r/a', expect, `${round}-${i}`)),
      );
      const won = tries.flatMap((result, i) =>
        result.status === 'fulfilled' ? [{ i, revision: result.value }] : [],
      );
      const [winner] = won;
      assert.equal(won.length, 1);
      assert.ok(winner);
      for (const result of tries) {
        if (result.status === 'rejected') {
          assert.ok(result.reason instanceof ConflictError);
          assert.equal(
            (result.reason.current as KeyValue | undefined)?.value.toString(),
            `${round}-${winner.i}`,
          );
        }
      }
      assert.equal((await backend.get('/g/r/a')).kv?.value.toString(), `${round}-${winner.i}`);
      expect = winner.revision;
    }
  });

  test('concurrent writes of many keys get distinct revisions', async (t) => {
    const { backend } = await open(t);
    const revisions = await Promise.all(
      Array.from({ length: 200 }, (_, i) => put(backend, `/g/r/${i}`, 0, `${i}`)),
    );
    assert.equal(new Set(revisions).size, 200);
    assert.equal(await backend.currentRevision(), Math.max(...revisions));
    const { items } = await backend.list('/g/r/');
    assert.equal(items.length, 200);
    for (const { value, modRevision } of items)
      assert.equal(modRevision, revisions[Number(value.toString())]);
  });

  test('a key with a lifetime is deleted when it is over, unless it was written again', async (t) => {
    const { backend, passSeconds } = await open(t);
    const abort = new AbortController();
    const value = bytes('x');
    await backend.write({ key: '/g/r/ends', expect: 0, value, ttlSeconds: 2 });
    const kept = await backend.write({ key: '/g/r/kept', expect: 0, value, ttlSeconds: 2 });
    const { revision } = await backend.write({ key: '/g/r/kept', expect: kept.revision, value });
    const watch = backend.watch('/g/r/', revision, abort.signal);
    const reading = readUntil(watch, revision + 1);
    await passSeconds(5);
    const [deletion] = await reading;
    assert.deepEqual(
      deletion?.events.map(({ type, key }) => [type, key]),
      [['delete', '/g/r/ends']],
    );
    const { items } = await backend.list('/g/r/');
    assert.deepEqual(
      items.map(({ key }) => key),
      ['/g/r/kept'],
    );
  });

  test('after close everything is refused', async (t) => {
    const { backend } = await open(t);
    await put(backend, '/g/r/a', 0, 'one');
    await backend.close();
    await assert.rejects(put(backend, '/g/r/b', 0, 'x'), UnavailableError);
    await assert.rejects(backend.get('/g/r/a'), UnavailableError);
    await assert.rejects(backend.list('/g/r/'), UnavailableError);
    await assert.rejects(backend.currentRevision(), UnavailableError);
    await assert.rejects(backend.check(new AbortController().signal), UnavailableError);
  });

  test('check answers while the store is open, and heeds its signal', async (t) => {
    const { backend } = await open(t);
    await backend.check(new AbortController().signal);
    await assert.rejects(backend.check(AbortSignal.abort(new Error('enough'))), /enough/);
  });
}
