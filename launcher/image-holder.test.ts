import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { writeImageHolder } from './image-holder.js';

const skip = process.arch === 'x64' ? false : 'the image holder is made for x86-64';

test('it runs without anything else until it is told to end, then ends with success', { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'nativirt-holder-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'image-holder');
  writeImageHolder(path);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const child = spawn(path, ['volumeroot'], { stdio: 'ignore' });
    await once(child, 'spawn');
    // Until it waits in rt_sigtimedwait.
    while (!readFileSync(`/proc/${child.pid}/syscall`, 'utf8').startsWith('128 '))
      await new Promise((resolve) => setImmediate(resolve));
    // Stopped and continued, it goes on waiting.
    child.kill('SIGSTOP');
    child.kill('SIGCONT');
    child.kill(signal);
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  }
});
