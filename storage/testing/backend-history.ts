import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompactedError, FutureRevisionError } from '../errors.js';
import type { ListResult } from '../interface.js';
import { put, remove, type OpenBackend } from './backend-fixture.js';

const pairs = ({ items }: ListResult): string[] =>
  items.map(({ key, value }) => `${key}=${value.toString()}`);

export function historyTests(open: OpenBackend): void {
  test('lists are in bytewise order and keep to their prefix', async (t) => {
    const { backend } = await open(t);
    const keys = ['/g/r/a', '/g/r/a-b', '/g/r/a/b', '/g/r/ab', '/g/r/b', '/g/r/\uff5e', '/g/r/\u{1f600}'];
    for (const key of ['/g/q/z', '/g/ra/a', '/g/r', ...keys.toReversed()]) await put(backend, key, 0, 'x');
    const { items, more } = await backend.list('/g/r/');
    assert.deepEqual(
      items.map(({ key }) => key),
      keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    assert.equal(more, false);
    assert.equal((await backend.list('/none/')).items.length, 0);
  });

  test('reads at a revision show the state of then', async (t) => {
    const { backend } = await open(t);
    const r1 = await put(backend, '/g/r/a', 0, 'a1');
    const r2 = await put(backend, '/g/r/b', 0, 'b1');
    const r3 = await put(backend, '/g/r/a', r1, 'a2');
    const r4 = await remove(backend, '/g/r/b', r2);
    const r5 = await put(backend, '/g/r/b', 0, 'b2');
    const states: [number, string[]][] = [
      [r1, ['/g/r/a=a1']],
      [r2, ['/g/r/a=a1', '/g/r/b=b1']],
      [r3, ['/g/r/a=a2', '/g/r/b=b1']],
      [r4, ['/g/r/a=a2']],
      [r5, ['/g/r/a=a2', '/g/r/b=b2']],
    ];
    for (const [revision, state] of states) {
      const list = await backend.list('/g/r/', { revision });
      assert.equal(list.revision, revision);
      assert.deepEqual(pairs(list), state);
      const { kv } = await backend.get('/g/r/b', { revision });
      assert.equal(kv && `${kv.key}=${kv.value.toString()}`, state[1]);
    }
  });

  test('pages of one revision make up its state, whatever is written meanwhile', async (t) => {
    const { backend } = await open(t);
    for (let i = 0; i < 25; i++) await put(backend, `/g/r/${String(i).padStart(2, '0')}`, 0, `${i}`);
    const whole = await backend.list('/g/r/');
    for (const limit of [1, 7, 24, 25, 100]) {
      const collected: string[] = [];
      let after: string | undefined;
      for (let more = true; more;) {
        const page = await backend.list('/g/r/', {
          revision: whole.revision,
          limit,
          ...(after && { after }),
        });
        collected.push(...pairs(page));
        assert.ok(page.items.length <= limit);
        after = page.items.at(-1)?.key;
        more = page.more;
        await put(backend, `/g/r/${limit}-${collected.length}`, 0, 'new');
      }
      assert.deepEqual(collected, pairs(whole));
    }
  });

  test('a revision of the future is refused', async (t) => {
    const { backend } = await open(t);
    const newest = await put(backend, '/g/r/a', 0, 'a1');
    const future = (error: unknown): boolean =>
      error instanceof FutureRevisionError && error.requested === newest + 10 && error.current === newest;
    await assert.rejects(backend.list('/g/', { revision: newest + 10 }), future);
    await assert.rejects(backend.get('/g/r/a', { revision: newest + 10 }), future);
    await assert.rejects(backend.compact(newest + 10), FutureRevisionError);
  });

  test('compaction forgets what is older and keeps what is current', async (t) => {
    const { backend } = await open(t);
    const r1 = await put(backend, '/g/r/a', 0, 'a1');
    const r2 = await put(backend, '/g/r/a', r1, 'a2');
    const r3 = await put(backend, '/g/r/b', 0, 'b1');
    await remove(backend, '/g/r/b', r3);
    const r5 = await put(backend, '/g/r/c', 0, 'c1');
    const r6 = await put(backend, '/g/r/a', r2, 'a3');
    await backend.compact(r5);
    for (const revision of [r1, r2, r3]) {
      const compacted = (error: unknown): boolean =>
        error instanceof CompactedError && error.requested === revision && error.oldest === r5;
      await assert.rejects(backend.list('/g/r/', { revision }), compacted);
      await assert.rejects(backend.get('/g/r/a', { revision }), compacted);
    }
    assert.deepEqual(pairs(await backend.list('/g/r/', { revision: r5 })), ['/g/r/a=a2', '/g/r/c=c1']);
    assert.deepEqual(pairs(await backend.list('/g/r/', { revision: r6 })), ['/g/r/a=a3', '/g/r/c=c1']);
    assert.deepEqual(pairs(await backend.list('/g/r/')), ['/g/r/a=a3', '/g/r/c=c1']);
    await backend.compact(r5);
    await backend.compact(r2);
    assert.deepEqual(pairs(await backend.list('/g/r/', { revision: r5 })), ['/g/r/a=a2', '/g/r/c=c1']);
  });
}
