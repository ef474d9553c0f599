import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { ConsoleLog } from './console-log.js';

const maxFileBytes = 4 << 20;
/** More than one of them may wait for the disk. */
const chunk = Buffer.alloc(512 << 10, 'x');
const end = Buffer.from('the end');

function setUp(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'nativirt-console-log-'));
  const path = join(directory, 'console.log');
  const log = new ConsoleLog(path);
  t.after(() => {
    log.close();
    rmSync(directory, { recursive: true });
  });
  const append = async (text: Buffer, bytes: number) => {
    log.append(text);
    for (let wait = 0; wait < 1000 && statSync(path).size !== bytes; wait++) await setTimeout(5);
    assert.equal(statSync(path).size, bytes);
  };
  /** Until the next byte does not belong in this file. */
  const fill = async () => {
    for (let bytes = 0; bytes <= maxFileBytes;) await append(chunk, (bytes += chunk.length));
  };
  return { log, path, append, fill };
}

test('the log goes on in another file, and keeps the one before it', async (t) => {
  const { log, append, fill } = setUp(t);
  await fill();
  await append(end, end.length);
  assert.equal(log.content().length, maxFileBytes + chunk.length + end.length);
});

test('where there can be no other file, the log starts again in the one that it has', async (t) => {
  const { path, append, fill } = setUp(t);
  // Nothing can be renamed to it.
  mkdirSync(`${path}.1`);
  await fill();
  await append(end, end.length);
});
