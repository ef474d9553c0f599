import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { IncompatibleError, LockedError, UnavailableError } from '../errors.js';
import { put, remove } from '../testing/backend-fixture.js';
import { afterTest, makeDirectory, openLevel } from '../testing/level-directory.js';
import { openDatabase } from './database.js';

test('what was written is there after the store was closed and opened again', async (t) => {
  const directory = join(await makeDirectory(t), 'made/on/demand');
  const first = await openLevel(t, { directory });
  const a1 = await put(first, '/g/r/a', 0, 'a1');
  const a2 = await put(first, '/g/r/a', a1, 'a2');
  const b1 = await put(first, '/g/r/b', 0, 'b1');
  const b2 = await remove(first, '/g/r/b', b1);
  await first.close();
  await first.close();
  const second = await openLevel(t, { directory });
  assert.equal(await second.currentRevision(), b2);
  const { kv } = await second.get('/g/r/a');
  assert.deepEqual([kv?.value.toString(), kv?.createRevision, kv?.modRevision], ['a2', a1, a2]);
  assert.equal((await second.get('/g/r/b')).kv, undefined);
  assert.equal((await second.list('/g/r/', { revision: b1 })).items.length, 2);
  assert.equal(await put(second, '/g/r/a', a2, 'a3'), b2 + 1);
});

test('a directory in use is refused, in this process', async (t) => {
  const directory = await makeDirectory(t);
  await openLevel(t, { directory });
  await assert.rejects(
    openLevel(t, { directory }),
    (error) => error instanceof LockedError && error.directory === directory,
  );
});

test('a directory in use by another process is refused', async (t) => {
  const directory = await makeDirectory(t);
  const writer = join(import.meta.dirname, '../testing/crash-writer.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', writer, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  afterTest(t, () => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  await assert.rejects(openLevel(t, { directory }), LockedError);
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  await openLevel(t, { directory });
});

test('data of a newer format is refused and left alone', async (t) => {
  const directory = await makeDirectory(t);
  const backend = await openLevel(t, { directory });
  await put(backend, '/g/r/a', 0, 'a1');
  await backend.close();
  const mark = async (value: string): Promise<void> => {
    const database = await openDatabase(directory);
    await database.batch([{ type: 'put', key: 'mformat', value }], true);
    await database.close();
  };
  await mark('{"name":"nativirt","format":2}');
  await assert.rejects(
    openLevel(t, { directory }),
    (error) => error instanceof IncompatibleError && /format 2.*format 1/.test(error.message),
  );
  for (const foreign of ['{"name":"other","format":1}', 'null', '\u0000']) {
    await mark(foreign);
    await assert.rejects(openLevel(t, { directory }), IncompatibleError);
  }
  await mark('{"name":"nativirt","format":1}');
  assert.equal((await (await openLevel(t, { directory })).get('/g/r/a')).kv?.value.toString(), 'a1');
});

test('a LevelDB of another program is refused', async (t) => {
  const directory = await makeDirectory(t);
  const database = await openDatabase(directory);
  await database.batch([{ type: 'put', key: 'theirs', value: 'x' }], true);
  await database.close();
  await assert.rejects(
    openLevel(t, { directory }),
    (error) => error instanceof IncompatibleError && error.message.includes('theirs'),
  );
});

test('a directory with other files is refused, and gets none of ours', async (t) => {
  const directory = await makeDirectory(t);
  await writeFile(join(directory, 'letter.txt'), 'dear');
  await assert.rejects(
    openLevel(t, { directory }),
    (error) => error instanceof IncompatibleError && error.message.includes('letter.txt'),
  );
});

test('a damaged LevelDB is refused', async (t) => {
  const directory = await makeDirectory(t);
  await (await openLevel(t, { directory })).close();
  await writeFile(join(directory, 'CURRENT'), 'no name of a manifest');
  await assert.rejects(openLevel(t, { directory }), IncompatibleError);
});

test('a path that can be no directory is refused', async (t) => {
  const directory = await makeDirectory(t);
  await mkdir(join(directory, 'a'));
  await writeFile(join(directory, 'a/file'), '');
  await assert.rejects(openLevel(t, { directory: join(directory, 'a/file') }), UnavailableError);
});
