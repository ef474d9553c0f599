import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConflictError, UnavailableError } from '../errors.js';
import type { Backend } from '../interface.js';
import { bytes, describeEvents, put, readUntil, remove } from '../testing/backend-fixture.js';
import { FailingDisk, makeDirectory, openLevel, readKeys } from '../testing/level-directory.js';
import { createManualClock } from '../testing/manual-clock.js';

/** Moves the clock until the store takes writes again. */
async function recover(clock: { advance(ms: number): void }, backend: Backend): Promise<void> {
  for (let i = 0; i < 200; i++) {
    clock.advance(1000);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const recovered = await backend.check(new AbortController().signal).then(
      () => true,
      () => false,
    );
    if (recovered) return;
  }
  assert.fail('the store does not recover');
}

for (const fails of ['before', 'after'] as const) {
  test(`a batch that fails ${fails} LevelDB wrote it is refused, invisible, and followed by recovery`, async (t) => {
    const directory = await makeDirectory(t);
    const clock = createManualClock();
    const disk = new FailingDisk();
    const backend = await openLevel(t, { directory, clock, open: disk.open });
    const a1 = await put(backend, '/g/r/a', 0, 'a1');
    const ttl = await backend.write({ key: '/g/r/t', expect: 0, value: bytes('t1'), ttlSeconds: 3600 });
    const { revision } = ttl;
    const watch = readUntil(backend.watch('/g/r/', revision, new AbortController().signal), revision + 2);

    disk.fails = fails;
    const refused = await Promise.allSettled([
      put(backend, '/g/r/a', a1, 'lost'),
      put(backend, '/g/r/b', 0, 'lost'),
      remove(backend, '/g/r/t', revision),
      put(backend, '/g/r/b', 0, 'a conflict with what does not happen'),
    ]);
    for (const result of refused) {
      assert.ok(result.status === 'rejected' && result.reason instanceof UnavailableError);
    }
    await assert.rejects(put(backend, '/g/r/c', 0, 'lost'), UnavailableError);
    await assert.rejects(backend.check(new AbortController().signal), UnavailableError);
    assert.equal(await backend.currentRevision(), revision);
    const whileFailing = await backend.list('/g/r/');
    assert.deepEqual(
      whileFailing.items.map(({ value }) => value.toString()),
      ['a1', 't1'],
    );

    disk.fails = 'not';
    await recover(clock, backend);
    assert.equal(disk.opened, 2);
    const { items } = await backend.list('/g/r/');
    assert.deepEqual(
      items.map(({ key, value }) => `${key}=${value.toString()}`),
      ['/g/r/a=a1', '/g/r/t=t1'],
    );
    const a2 = await put(backend, '/g/r/a', a1, 'a2');
    assert.equal(a2, revision + 1);
    const b1 = await put(backend, '/g/r/b', 0, 'b1');
    assert.deepEqual(describeEvents(await watch), [
      `${a2} put /g/r/a=a2 (${a1}..${a2}) was a1`,
      `${b1} put /g/r/b=b1 (${b1}..${b1}) was nothing`,
    ]);
    const expiry = readUntil(backend.watch('/g/r/', b1, new AbortController().signal), b1 + 1);
    clock.advance(3700_000);
    assert.deepEqual(describeEvents(await expiry), [
      `${b1 + 1} delete /g/r/t=t1 (${revision}..${b1 + 1}) was t1`,
    ]);

    await backend.close();
    const again = await openLevel(t, { directory });
    const kept = await again.list('/g/r/');
    assert.deepEqual(
      kept.items.map(({ key, value }) => `${key}=${value.toString()}`),
      ['/g/r/a=a2', '/g/r/b=b1'],
    );
    await again.close();
    assert.ok((await readKeys(directory)).every((key) => !key.startsWith('t')));
  });
}

test('a store that can not be opened again keeps trying, and refuses reads meanwhile', async (t) => {
  const clock = createManualClock();
  const disk = new FailingDisk();
  const backend = await openLevel(t, { directory: await makeDirectory(t), clock, open: disk.open });
  const a1 = await put(backend, '/g/r/a', 0, 'a1');
  disk.fails = 'after';
  await assert.rejects(put(backend, '/g/r/a', a1, 'lost'), UnavailableError);
  disk.opens = false;
  for (let i = 0; i < 3; i++) {
    clock.advance(1000);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  await assert.rejects(backend.list('/g/r/'), UnavailableError);
  await assert.rejects(put(backend, '/g/r/a', a1, 'lost'), UnavailableError);
  disk.opens = true;
  disk.fails = 'not';
  await recover(clock, backend);
  assert.equal((await backend.get('/g/r/a')).kv?.value.toString(), 'a1');
  await put(backend, '/g/r/a', a1, 'a2');
  await assert.rejects(put(backend, '/g/r/a', a1, 'a3'), ConflictError);
});

test('a store that fails can be closed', async (t) => {
  const disk = new FailingDisk();
  const backend = await openLevel(t, { directory: await makeDirectory(t), open: disk.open });
  disk.fails = 'before';
  await assert.rejects(put(backend, '/g/r/a', 0, 'lost'), UnavailableError);
  await backend.close();
});
