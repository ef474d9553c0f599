import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { readHead } from './files.js';
import { backingFileName, inspect } from './format.js';
import { qemuImg } from './qemu-img.js';

const signal = new AbortController().signal;
const installed = spawnSync('qemu-img', ['--version']).status === 0;
const skip = installed ? false : 'qemu-img is not installed';

async function inDirectory(body: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'nativirt-img-'));
  try {
    await body(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

test('qemu-img makes disks that we can read', { skip }, () =>
  inDirectory(async (directory) => {
    const tool = qemuImg('qemu-img', signal);
    const base = join(directory, 'base.qcow2');
    await tool.createQcow2(base, { bytes: 2 ** 30 });
    assert.deepEqual(inspect(await readHead(base, 4096)), {
      ok: true,
      format: 'qcow2',
      virtualSize: 2 ** 30,
    });
    const overlay = join(directory, 'overlay.qcow2');
    await tool.createQcow2(overlay, { backing: 'base.qcow2', format: 'qcow2' });
    assert.equal(backingFileName(await readHead(overlay, 4096)), 'base.qcow2');
  }),
);

test('what qemu-img cannot do is told in its words', { skip }, () =>
  inDirectory(async (directory) => {
    const made = qemuImg('qemu-img', signal).createQcow2(join(directory, 'x.qcow2'), {
      backing: 'missing.img',
      format: 'raw',
    });
    await assert.rejects(made, { reason: 'DiskFailed', message: /missing\.img/ });
  }),
);

test('a full disk is told as one', () =>
  inDirectory(async (directory) => {
    const script = join(directory, 'qemu-img');
    const words = 'qemu-img: x.qcow2: Could not write qcow2 header: No space left on device';
    writeFileSync(script, `#!/bin/sh\necho '${words}' >&2\nexit 1\n`, { mode: 0o755 });
    await assert.rejects(qemuImg(script, signal).createQcow2('x.qcow2', { bytes: 1 }), {
      reason: 'DiskFull',
    });
  }));

test('a missing qemu-img is told as a missing QEMU', async () => {
  await assert.rejects(qemuImg('/nowhere/qemu-img', signal).createQcow2('x', { bytes: 1 }), {
    reason: 'QEMUMissing',
  });
});
