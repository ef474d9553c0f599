/** Virtual machines with a stand-in for QEMU: how long until it runs, how many writes, how much memory a launcher takes. */
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { privateBytes } from './process-figures.js';
import { BenchClient, startServer, type BenchServer } from './server.js';
import { megabytes, milliseconds, percentile, table } from './table.js';

const root = path.resolve(import.meta.dirname, '../..');
const layout = path.join(root, 'build/guest/oci/nativirt-guest');
const rounds = 10;
const base = '/apis/kubevirt.io/v1/namespaces/default';

const machine = (name: string): object => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name },
  spec: {
    runStrategy: 'Always',
    template: {
      spec: {
        terminationGracePeriodSeconds: 0,
        domain: {
          memory: { guest: '64Mi' },
          devices: { disks: [{ name: 'root', disk: { bus: 'virtio' } }] },
        },
        volumes: [{ name: 'root', containerDisk: { image: `oci:${layout}:disk` } }],
      },
    },
  },
});

/** Processes of this server's pods whose command line holds a word. */
function processes(server: BenchServer, word: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const ours = readlinkSync(`/proc/${name}/cwd`).startsWith(server.dataDirectory);
      return ours &&
        readFileSync(`/proc/${name}/cmdline`, 'utf8')
          .split('\0')
          .some((argument) => argument.endsWith(word))
        ? [Number(name)]
        : [];
    } catch {
      // It ended while we looked.
      return [];
    }
  });
}

async function until(what: string, holds: () => boolean | Promise<boolean>, interval: number): Promise<void> {
  for (const end = performance.now() + 120_000; performance.now() < end;) {
    if (await holds()) return;
    await delay(interval);
  }
  throw new Error(`not within two minutes: ${what}`);
}

export async function benchVirtualMachines(): Promise<string> {
  if (!existsSync(layout))
    throw new Error(`${layout} is missing: run npm test or npm run demo once, they build it`);
  const fake = path.join(root, 'test/fake-qemu/fake-qemu.mjs');
  const server = await startServer(['--qemu', fake, '--image-layout-dir', path.dirname(layout)]);
  const client = new BenchClient(server);
  const starts: number[] = [];
  const running: number[] = [];
  const memory: number[] = [];
  try {
    for (let round = 0; round <= rounds; round++) {
      const name = `bench-${round}`;
      const begin = performance.now();
      const created = await client.request('POST', `${base}/virtualmachines`, machine(name));
      if (created.status !== 201) throw new Error(created.body.toString());
      await until('QEMU runs', () => processes(server, 'fake-qemu.mjs').length > 0, 5);
      const started = performance.now() - begin;
      await until(
        'Running',
        async () =>
          /"phase":"Running"/.test(
            (await client.request('GET', `${base}/virtualmachineinstances/${name}`)).body.toString(),
          ),
        5,
      );
      // The first one pulls the image.
      if (round > 0) {
        starts.push(started);
        running.push(performance.now() - begin);
      }
      await delay(1000);
      for (const pid of processes(server, 'launcher.js')) memory.push(privateBytes(pid));
      await client.request('DELETE', `${base}/virtualmachines/${name}`);
      await until(
        'it is gone',
        () => processes(server, 'launcher.js').length + processes(server, 'fake-qemu.mjs').length === 0,
        50,
      );
      await until(
        'the VM is gone',
        async () => (await client.request('GET', `${base}/virtualmachines/${name}`)).status === 404,
        50,
      );
    }
    const row = (title: string, values: number[], format: (value: number) => string): string[] => {
      const sorted = values.sort((a, b) => a - b);
      return [title, format(percentile(sorted, 0.5)), format(percentile(sorted, 0.99))];
    };
    return table(
      ['measure', 'p50', 'max'],
      [
        row('create VM → QEMU process, ms', starts, milliseconds),
        row('create VM → VMI Running, ms', running, milliseconds),
        row('private memory of a launcher', memory, megabytes),
      ],
    );
  } finally {
    client.close();
    await server.stop();
  }
}
