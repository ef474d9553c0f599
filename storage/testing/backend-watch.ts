import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompactedError, UnavailableError } from '../errors.js';
import { describeEvents, put, readUntil, remove, type OpenBackend } from './backend-fixture.js';

export function watchTests(open: OpenBackend, many: number): void {
  test('a watch tells past and coming changes of its prefix in order, with what was there before', async (t) => {
    const { backend } = await open(t);
    const abort = new AbortController();
    const r1 = await put(backend, '/g/r/a', 0, 'a1');
    const r2 = await put(backend, '/g/r/a', r1, 'a2');
    const r3 = await put(backend, '/g/q/a', 0, 'other');
    const reading = readUntil(backend.watch('/g/r/', r1, abort.signal), r3 + 2);
    const r4 = await remove(backend, '/g/r/a', r2);
    const r5 = await put(backend, '/g/r/a', 0, 'a3');
    assert.deepEqual(describeEvents(await reading), [
      `${r2} put /g/r/a=a2 (${r1}..${r2}) was a1`,
      `${r4} delete /g/r/a=a2 (${r1}..${r4}) was a2`,
      `${r5} put /g/r/a=a3 (${r5}..${r5}) was nothing`,
    ]);
  });

  test('a watch that needs no previous values does without', async (t) => {
    const { backend } = await open(t);
    const r1 = await put(backend, '/g/r/a', 0, 'a1');
    const r2 = await put(backend, '/g/r/a', r1, 'a2');
    const r3 = await remove(backend, '/g/r/a', r2);
    const watch = backend.watch('/g/r/', r1, new AbortController().signal, { previous: false });
    const read = (await readUntil(watch, r3)).flatMap(({ events }) => events);
    assert.deepEqual(
      read.map(({ type, key, kv, previous }) => [type, key, kv.value.toString(), kv.modRevision, previous]),
      [
        ['put', '/g/r/a', 'a2', r2, undefined],
        ['delete', '/g/r/a', '', r3, undefined],
      ],
    );
  });

  test('a watch says at once that it is in force, and how far it is when others change', async (t) => {
    const { backend } = await open(t);
    const r1 = await put(backend, '/g/r/a', 0, 'a1');
    const watch = backend.watch('/none/', r1, new AbortController().signal)[Symbol.asyncIterator]();
    assert.deepEqual(await watch.next(), { done: false, value: { revision: r1, events: [] } });
    const r2 = await put(backend, '/g/r/a', r1, 'a2');
    backend.requestProgress?.();
    const progress = await watch.next();
    assert.ok(progress.done !== true && progress.value.revision >= r2);
    assert.deepEqual(progress.value.events, []);
    await watch.return?.();
  });

  test('a watch from the future begins there', async (t) => {
    const { backend } = await open(t);
    const r1 = await put(backend, '/g/r/a', 0, 'a1');
    const reading = readUntil(backend.watch('/g/r/', r1 + 1, new AbortController().signal), r1 + 2);
    const r2 = await put(backend, '/g/r/a', r1, 'a2');
    const r3 = await put(backend, '/g/r/a', r2, 'a3');
    assert.deepEqual(describeEvents(await reading), [`${r3} put /g/r/a=a3 (${r1}..${r3}) was a2`]);
  });

  test('a watch from before the history is refused, one within it is served', async (t) => {
    const { backend } = await open(t);
    const r1 = await put(backend, '/g/r/a', 0, 'a1');
    const r2 = await put(backend, '/g/r/a', r1, 'a2');
    const r3 = await put(backend, '/g/r/a', r2, 'a3');
    const r4 = await remove(backend, '/g/r/a', r3);
    await backend.compact(r3);
    const { signal } = new AbortController();
    await assert.rejects(readUntil(backend.watch('/g/r/', r1, signal), r4), (error) => {
      assert.ok(error instanceof CompactedError);
      assert.deepEqual([error.requested, error.oldest], [r1, r3]);
      return true;
    });
    assert.deepEqual(describeEvents(await readUntil(backend.watch('/g/r/', r3, signal), r4)), [
      `${r4} delete /g/r/a=a3 (${r1}..${r4}) was a3`,
    ]);
  });

  test('a watch ends when its signal aborts, waiting or not', async (t) => {
    const { backend } = await open(t);
    const abort = new AbortController();
    const watch = backend.watch('/g/r/', 0, abort.signal)[Symbol.asyncIterator]();
    await watch.next();
    const waiting = watch.next();
    abort.abort();
    assert.equal((await waiting).done, true);
    for await (const events of backend.watch('/g/r/', 0, abort.signal)) assert.fail(JSON.stringify(events));
  });

  test('closing the store ends its watches with an error', async (t) => {
    const { backend } = await open(t);
    const watch = backend.watch('/g/r/', 0, new AbortController().signal)[Symbol.asyncIterator]();
    await watch.next();
    const refused = assert.rejects(watch.next(), UnavailableError);
    await backend.close();
    await refused;
  });

  test('a reader far behind misses nothing', async (t) => {
    const { backend } = await open(t);
    const start = await backend.currentRevision();
    const watch = backend.watch('/g/r/', start, new AbortController().signal);
    const iterator = watch[Symbol.asyncIterator]();
    await iterator.next();
    const revisions = await Promise.all(
      Array.from({ length: many }, (_, i) => put(backend, `/g/r/${i}`, 0, 'x')),
    );
    const rest = { [Symbol.asyncIterator]: () => iterator };
    const read = await readUntil(rest, Math.max(...revisions));
    assert.deepEqual(
      read.map(({ revision }) => revision),
      revisions.toSorted((a, b) => a - b),
    );
  });
}
