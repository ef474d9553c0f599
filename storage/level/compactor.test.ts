import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompactedError } from '../errors.js';
import type { Backend } from '../interface.js';
import { put, remove } from '../testing/backend-fixture.js';
import { FailingDisk, makeDirectory, openLevel, readKeys } from '../testing/level-directory.js';
import { createManualClock } from '../testing/manual-clock.js';

const count = (keys: readonly string[], letter: string): number =>
  keys.filter((key) => key.startsWith(letter)).length;

test('compaction deletes what is superseded, and nothing else, from disk', async (t) => {
  const directory = await makeDirectory(t);
  const backend = await openLevel(t, { directory });
  const names = Array.from({ length: 700 }, (_, i) => `/g/r/${i}`);
  await Promise.all(
    names.map(async (name) => {
      await put(backend, name, await put(backend, name, 0, 'old'), 'new');
    }),
  );
  const b = await put(backend, '/g/r/b', 0, 'b');
  await remove(backend, '/g/r/b', b);
  const c = await put(backend, '/g/r/c', 0, 'c');
  await backend.compact(c);
  await backend.close();
  const keys = await readKeys(directory);
  assert.deepEqual([count(keys, 'l'), count(keys, 'i')], [701, 701]);
  const again = await openLevel(t, { directory });
  assert.equal(await again.currentRevision(), c);
  const { items } = await again.list('/g/r/', { revision: c });
  assert.deepEqual(
    items.map(({ key, value }) => `${key}=${value.toString()}`),
    [...names.toSorted().map((name) => `${name}=new`), '/g/r/c=c'],
  );
  await assert.rejects(again.list('/g/r/', { revision: c - 1 }), CompactedError);
});

test('a compaction that was interrupted is finished after the next start', async (t) => {
  const directory = await makeDirectory(t);
  const disk = new FailingDisk();
  const backend = await openLevel(t, { directory, open: disk.open });
  const a1 = await put(backend, '/g/r/a', 0, 'a1');
  const a2 = await put(backend, '/g/r/a', a1, 'a2');
  const compaction = assert.rejects(backend.compact(a2));
  disk.fails = 'after';
  await compaction;
  await backend.close();
  const clock = createManualClock();
  const again = await openLevel(t, { directory, clock });
  await assert.rejects(again.list('/g/r/', { revision: a1 }), CompactedError);
  clock.advance(60_000);
  await again.compact(a2);
  await again.close();
  assert.equal(count(await readKeys(directory), 'l'), 1);
});

/** Advances step by step until history begins at `oldest`. */
async function advanceUntilCompacted(
  clock: { advance(ms: number): void },
  backend: Backend,
  step: number,
  oldest: number,
): Promise<number> {
  for (let steps = 1; steps <= 100; steps++) {
    clock.advance(step);
    await new Promise((resolve) => setTimeout(resolve, 2));
    const gone = await backend.list('/g/r/', { revision: oldest - 1 }).then(
      () => false,
      (error: unknown) => error instanceof CompactedError,
    );
    if (gone) return steps;
  }
  return assert.fail(`history before ${oldest} stays`);
}

test('history older than the retention goes by itself', async (t) => {
  const clock = createManualClock();
  const retention = { milliseconds: 60_000, revisions: 1_000_000 };
  const backend = await openLevel(t, { directory: await makeDirectory(t), clock, retention });
  const a1 = await put(backend, '/g/r/a', 0, 'a1');
  const a2 = await put(backend, '/g/r/a', a1, 'a2');
  const steps = await advanceUntilCompacted(clock, backend, 6000, a2);
  assert.ok(steps >= 10, `after ${steps} steps`);
  assert.equal((await backend.list('/g/r/', { revision: a2 })).items.length, 1);
});

test('more revisions than the retention go by themselves', async (t) => {
  const clock = createManualClock();
  const retention = { milliseconds: 600_000, revisions: 10 };
  const backend = await openLevel(t, { directory: await makeDirectory(t), clock, retention });
  let revision = 0;
  for (let i = 0; i < 25; i++) revision = await put(backend, '/g/r/a', revision, `${i}`);
  assert.equal(await advanceUntilCompacted(clock, backend, 60_000, revision - 10), 1);
  assert.equal((await backend.list('/g/r/', { revision: revision - 10 })).items.length, 1);
});
