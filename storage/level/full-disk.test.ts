import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { UnavailableError } from '../errors.js';
import { afterTest, makeDirectory, openLevel } from '../testing/level-directory.js';

/** Mounts a small file system. Returns why it can not, if so. */
function mountSmallDisk(t: TestContext, directory: string): string | undefined {
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', directory], {
    encoding: 'utf8',
  });
  if (mounted.status !== 0) return mounted.error?.message ?? mounted.stderr.trim();
  afterTest(t, () => {
    assert.equal(spawnSync('umount', [directory]).status, 0);
  });
  return undefined;
}

test('a full disk refuses writes, loses nothing, and the store goes on when there is space', async (t) => {
  const mountPoint = await makeDirectory(t);
  const failure = mountSmallDisk(t, mountPoint);
  if (failure !== undefined) {
    t.skip(`needs a file system of its own (root): ${failure}`);
    return;
  }
  const ballast = join(mountPoint, 'ballast');
  await writeFile(ballast, Buffer.alloc(12 * 1024 * 1024));
  const directory = join(mountPoint, 'data');
  const backend = await openLevel(t, { directory });
  const acknowledged = new Map<string, Buffer>();

  /** Writes values that do not compress, several at once, until one is refused. */
  const fill = async (round: string): Promise<void> => {
    for (let i = 0; i < 1000; i++) {
      const value = randomBytes(50_000);
      const keys = [0, 1, 2].map((n) => `/g/r/${round}-${i}-${n}`);
      const results = await Promise.allSettled(keys.map((key) => backend.write({ key, expect: 0, value })));
      results.forEach((result, n) => {
        if (result.status === 'fulfilled') acknowledged.set(keys[n] ?? '', value);
        else assert.ok(result.reason instanceof UnavailableError, String(result.reason));
      });
      if (results.some(({ status }) => status === 'rejected')) return;
    }
    assert.fail('the disk does not fill');
  };
  const check = async (): Promise<void> => {
    const { items } = await backend.list('/g/r/');
    assert.deepEqual(
      items.map(({ key }) => key),
      [...acknowledged.keys()].sort(),
    );
    for (const { key, value } of items) assert.ok(acknowledged.get(key)?.equals(value), key);
  };

  await fill('first');
  assert.ok(acknowledged.size > 0);
  await assert.rejects(
    backend.write({ key: '/g/r/x', expect: 0, value: Buffer.alloc(10) }),
    UnavailableError,
  );
  await check();

  await rm(ballast);
  const refused = new Set<unknown>();
  for (let i = 0; i < 600; i++) {
    const written = await backend
      .write({ key: '/g/r/after', expect: 0, value: Buffer.from('more') })
      .catch((error: unknown) => {
        refused.add(String(error));
        return undefined;
      });
    if (written !== undefined) {
      acknowledged.set('/g/r/after', Buffer.from('more'));
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.ok(acknowledged.has('/g/r/after'), [...refused].join('\n'));
  await check();
  await backend.close();

  const again = await openLevel(t, { directory });
  const { items } = await again.list('/g/r/');
  assert.equal(items.length, acknowledged.size);
  for (const { key, value } of items) assert.ok(acknowledged.get(key)?.equals(value), key);
  await again.close();
});
