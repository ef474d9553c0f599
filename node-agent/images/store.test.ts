import assert from 'node:assert/strict';
import { link, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { ImageStore } from './store.js';
import { digestOf } from './testing/images.js';

async function setUp(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-store-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const clock = { now: 1_700_000_000_000 };
  const store = await ImageStore.open(directory, () => clock.now);
  const add = async (name: string, content: string): Promise<string> => {
    const temporaryPath = join(await store.temporaryDirectory(), 'file');
    await writeFile(temporaryPath, content);
    const manifest = digestOf(Buffer.from(name));
    const file = { temporaryPath, digest: digestOf(Buffer.from(content)), size: content.length };
    await store.add(manifest, new Map([['/disk/', file]]));
    await store.setReference(name, manifest);
    return manifest;
  };
  return { directory, store, clock, add };
}

test('garbage is what no pod links to and nobody used lately, the oldest first', async (t) => {
  const { directory, store, clock, add } = await setUp(t);
  const old = await add('old', 'old content');
  clock.now += 1000;
  const linked = await add('linked', 'linked content');
  clock.now += 1000;
  const middle = await add('middle', 'middle content');
  const file = (await store.find(linked, ['/disk/']))?.get('/disk/');
  assert.ok(file);
  await link(file.path, join(directory, 'disk.img'));
  assert.deepEqual(await store.collectGarbage(), { images: [], freedBytes: 0 });
  clock.now += 10 * 60 * 1000;
  const fresh = await add('fresh', 'fresh content');
  assert.deepEqual(await store.collectGarbage(1), { images: [old], freedBytes: 'old content'.length });
  assert.deepEqual((await store.collectGarbage()).images, [middle]);
  assert.deepEqual(
    store
      .list()
      .map(({ digest }) => digest)
      .sort(),
    [fresh, linked].sort(),
  );
  assert.equal(store.resolve('old'), undefined);
  assert.equal((await readdir(join(directory, 'files'))).length, 2);
});

test('content that two images share stays until both are gone', async (t) => {
  const { directory, store, clock, add } = await setUp(t);
  await add('one', 'same');
  clock.now += 10 * 60 * 1000;
  const two = await add('two', 'same');
  assert.equal((await store.collectGarbage()).freedBytes, 0);
  assert.ok(await store.find(two, ['/disk/']));
  clock.now += 10 * 60 * 1000;
  assert.equal((await store.collectGarbage()).freedBytes, 4);
  assert.deepEqual(await readdir(join(directory, 'files')), []);
});

test('a file that is gone or cut is not offered; files without a record go at start', async (t) => {
  const { directory, store, add } = await setUp(t);
  const manifest = await add('image', 'content');
  await writeFile(join(directory, 'files', 'f'.repeat(64)), 'half');
  const file = (await store.find(manifest, ['/disk/']))?.get('/disk/');
  assert.ok(file);
  await ImageStore.open(directory);
  assert.deepEqual(await readdir(join(directory, 'files')), [file.digest.slice(7)]);
  await rm(file.path);
  assert.equal(await store.find(manifest, ['/disk/']), undefined);
});
