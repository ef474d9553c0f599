import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { podLayout } from '../openapi/launcher/protocol.js';
import { bundleLauncher, LauncherProcess, readUntil, smallVmi } from '../test/fake-qemu/launcher-process.js';

const image = fileURLToPath(new URL('../build/guest/disk.qcow2', import.meta.url));
const qemu = 'qemu-system-x86_64';
const maxPrivateKb = 20_000;

function missing(): string | false {
  if (spawnSync(qemu, ['--version']).status !== 0) return `${qemu} is not installed`;
  return existsSync(image) ? false : 'the guest image is not built (test/guest)';
}

/** Private memory of a process, in kB. */
function privateKb(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const lines = [...rollup.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm)];
  assert.equal(lines.length, 2);
  return lines.reduce((sum, [, kb]) => sum + Number(kb), 0);
}

test('a real guest boots, is logged in to, and powers off', { skip: missing() }, async () => {
  const { bundle, remove } = await bundleLauncher();
  const launcher = new LauncherProcess({ bundle, qemu });
  try {
    const volume = join(launcher.podDir, podLayout.volumes, 'root');
    mkdirSync(volume, { recursive: true });
    copyFileSync(image, join(volume, podLayout.diskFile));
    const userData =
      '#cloud-config\nhostname: booted\nuser: alice\npassword: wonderland\nchpasswd: { expire: false }\n';
    const vmi = smallVmi(launcher.uid, {
      domain: {
        memory: { guest: '256Mi' },
        devices: {
          disks: [
            { name: 'root', disk: { bus: 'virtio' } },
            { name: 'seed', disk: { bus: 'virtio' } },
          ],
        },
      },
      volumes: [
        { name: 'root', containerDisk: { image: 'example/guest' } },
        { name: 'seed', cloudInitNoCloud: { userData } },
      ],
    });
    const client = await launcher.connect();
    await client.call('subscribe');
    const console = await (await launcher.connect()).console('write');
    await client.call('start', { vmi });
    await readUntil(console, 'booted login: ');
    console.write('alice\n');
    await readUntil(console, 'assword:');
    console.write('wonderland\n');
    await readUntil(console, '$ ');
    console.write('echo logged-$((40 + 2))\n');
    await readUntil(console, 'logged-42');
    const { guest } = await client.until(({ guest: told }) => (told?.interfaces ?? []).length > 1);
    assert.equal(guest?.hostname, 'booted');
    assert.ok(privateKb(launcher.child.pid ?? 0) <= maxPrivateKb);
    await client.call('shutdown', { gracePeriodSeconds: 60 });
    assert.equal((await client.state('Shutoff', 'Killed', 'Failed')).reason, 'ShutdownRequested');
    assert.equal(await launcher.exited, 0);
  } finally {
    await launcher.remove();
    remove();
  }
});
