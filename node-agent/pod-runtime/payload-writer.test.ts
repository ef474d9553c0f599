import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { writePayload } from './payload-writer.js';
import type { PayloadFile } from './volume-payload.js';

function volumeIn(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'nativirt-payload-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return join(directory, 'volume');
}

const file = (path: string, text: string, mode = 0o644): PayloadFile => ({
  path,
  content: Buffer.from(text),
  mode,
});
const text = (volume: string, path: string): string => readFileSync(join(volume, path), 'utf8');
const names = (volume: string): string[] => readdirSync(volume).filter((name) => !name.startsWith('..'));

test('all files of a volume change at once, and nothing changes where nothing has', async (t) => {
  const volume = volumeIn(t);
  assert.equal(await writePayload(volume, [file('a', '1'), file('deep/b', '1', 0o400)], undefined), true);
  assert.deepEqual(names(volume), ['a', 'deep']);
  assert.equal(statSync(join(volume, 'deep/b')).mode & 0o777, 0o400);
  const first = readlinkSync(join(volume, '..data'));
  assert.equal(await writePayload(volume, [file('a', '1'), file('deep/b', '1', 0o400)], undefined), false);
  assert.equal(readlinkSync(join(volume, '..data')), first);

  assert.equal(await writePayload(volume, [file('a', '2'), file('c', '2')], undefined), true);
  assert.equal(text(volume, 'a') + text(volume, 'c'), '22');
  assert.deepEqual(names(volume), ['a', 'c']);
  assert.equal(readdirSync(volume).length, 4, 'the old files are gone');
  assert.equal(
    await writePayload(volume, [file('a', '2', 0o600), file('c', '2')], undefined),
    true,
    'a mode counts',
  );
});

test('what a writer left that was killed is mended', async (t) => {
  const volume = volumeIn(t);
  await writePayload(volume, [file('a', '1')], undefined);
  mkdirSync(join(volume, '..half'));
  writeFileSync(join(volume, '..half/a'), '2');
  symlinkSync('..half', join(volume, '..half.link'));
  rmSync(join(volume, 'a'));
  assert.equal(await writePayload(volume, [file('a', '1')], undefined), false);
  assert.equal(text(volume, 'a'), '1');
  assert.equal(readdirSync(volume).length, 3);
});

test('the last of several sources with one path wins', async (t) => {
  const volume = volumeIn(t);
  await writePayload(volume, [file('a', '1'), file('a', '2')], undefined);
  assert.equal(text(volume, 'a'), '2');
});
