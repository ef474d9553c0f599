import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { smallVmi } from '../../test/fake-qemu/launcher-process.js';
import type { Disk } from '../../openapi/generated/types/kubevirt_v1.js';
import { defaultMachineSettings } from '../../openapi/launcher/settings.js';
import { systemClock } from '../clock.js';
import type { DiskImage } from '../disks/image.js';
import { DownwardMetrics } from '../downward-metrics/service.js';
import { prepareEfi } from './ovmf.js';
import { commandLine } from './command-line.js';
import { disksOf } from './disks.js';
import { hasSerialConsole } from './serial.js';
import type { MachineContext } from './model.js';
import { startQemu } from './process.js';
import { examples, type Example } from './testdata/specs.js';

const uid = '0e2f4e31-1d7f-4c0e-9a60-0a0000000001';

/** What prepareDisks would make of the volumes. */
function imageOf(
  { block = [] }: Example,
  volume: NonNullable<Example['spec']['volumes']>[number],
): DiskImage {
  const { name } = volume;
  const made = { volume: name, backing: undefined, readOnly: false, directIO: true };
  if (block.includes(name))
    return { ...made, file: { path: `volumes/${name}`, format: 'raw', storage: 'block' } };
  if (volume.persistentVolumeClaim) {
    return { ...made, file: { path: `volumes/${name}/disk.img`, format: 'raw', storage: 'file' } };
  }
  if (volume.cloudInitNoCloud ?? volume.configMap) {
    return { ...made, file: { path: `disks/${name}.iso`, format: 'raw', storage: 'file' } };
  }
  const overlay = { path: `disks/${name}.qcow2`, format: 'qcow2', storage: 'file' } as const;
  if (!volume.containerDisk) return { ...made, file: overlay };
  const base = { path: `volumes/${name}/disk.img`, format: 'raw', storage: 'file' } as const;
  return { ...made, file: overlay, backing: base };
}

function contextOf(example: Example): MachineContext {
  const { spec, accelerator, status, annotations, settings } = example;
  const small = smallVmi(uid, spec);
  const vmi = {
    ...small,
    metadata: { ...small.metadata, ...(annotations ? { annotations } : {}) },
    ...(status ? { status } : {}),
  };
  const { firmware, launchSecurity } = spec.domain;
  const confidential = launchSecurity?.snp ?? launchSecurity?.tdx;
  return {
    vmi,
    settings: { ...defaultMachineSettings, ...settings },
    accelerator,
    images: new Map(
      disksOf(vmi).flatMap(({ name }) => {
        const volume = spec.volumes?.find((candidate) => candidate.name === name);
        return volume ? [[name, imageOf(example, volume)]] : [];
      }),
    ),
    efi: firmware?.bootloader?.efi && {
      code: '/firmware/code.fd',
      variables: confidential ? undefined : 'disks/efi-variables.fd',
    },
    kernel: firmware?.kernelBoot && {
      kernel: 'volumes/kernel-boot/kernel',
      initrd: 'volumes/kernel-boot/initrd',
    },
    taps: new Map(Object.entries(example.taps ?? {})),
    streams: new Map(Object.entries(example.streams ?? {})),
    host: {
      cpus: [0, 1, 2, 3],
      numaNodes: [{ id: 0, cpus: [0, 1, 2, 3] }],
      environment: {},
      ...example.host,
    },
    now: Date.UTC(2026, 0, 2, 3, 4, 5),
  };
}

/** One argument a line; what starts with a dash begins a new one. */
function render({ argv, environment, commands }: ReturnType<typeof commandLine>): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}\n`);
  const orders = commands.map(({ execute, arguments: given }) => `qmp ${execute} ${JSON.stringify(given)}\n`);
  return `${variables.join('')}${argv.join('\n').replace(/\n(?!-)/g, ' ')}\n${orders.join('')}`;
}

for (const example of examples) {
  test(`the command line of ${example.name}`, () => {
    const golden = fileURLToPath(new URL(`testdata/${example.name}.args`, import.meta.url));
    const line = render(commandLine(contextOf(example)));
    if (process.env['UPDATE_GOLDEN']) writeFileSync(golden, line);
    assert.equal(line, readFileSync(golden, 'utf8'));
  });
}

test('a disk that QEMU could not make is refused by its field', () => {
  const disks = (disk: Disk) => {
    const spec = { domain: { memory: { guest: '64Mi' }, devices: { disks: [disk] } }, volumes: [volume] };
    return () => commandLine(contextOf({ name: 'wrong', accelerator: 'tcg', spec }));
  };
  const volume = { name: 'd', emptyDisk: { capacity: '1Mi' } };
  const cases: [disk: Disk, message: RegExp][] = [
    [
      { name: 'd', disk: { bus: 'sata', readonly: true } },
      /disks\[0\]\.disk\.bus .*SATA disk cannot be read-only/,
    ],
    [
      { name: 'd', disk: { bus: 'ide' } },
      /disks\[0\]\.disk\.bus .*ide is not one of virtio, scsi, sata, usb/,
    ],
    [{ name: 'd', cdrom: { bus: 'virtio' } }, /only a disk can be on bus virtio/],
    [{ name: 'd', lun: { bus: 'sata' } }, /LUN can only be on bus scsi/],
    [{ name: 'd', lun: {} }, /LUN needs a block volume/],
    [{ name: 'd', disk: {}, cache: 'fast' }, /cache fast is not one of/],
    [{ name: 'd', disk: {}, cache: 'writeback', io: 'native' }, /io native needs cache none/],
    [{ name: 'x', disk: {} }, /no volume is named x/],
  ];
  for (const [disk, message] of cases) assert.throws(disks(disk), { message });
});

const qemu = 'qemu-system-x86_64';
const installed = [qemu, 'qemu-img'].every((binary) => spawnSync(binary, ['--version']).status === 0);

function impossible({ block, needs, spec }: Example): string | undefined {
  if (needs !== undefined) return `it needs ${needs}`;
  if (block) return 'it needs a block device';
  return spec.domain.firmware?.kernelBoot ? 'it needs a kernel' : undefined;
}

/** A table of nothing but its header. */
function acpiTable(signature: string): Buffer {
  const table = Buffer.alloc(36);
  table.write(signature.toUpperCase());
  table.writeUInt32LE(table.length, 4);
  return table;
}

/** Makes every file that the command line names. */
function makeFiles({ images }: MachineContext): void {
  const files = [...images.values()].flatMap(({ file, backing }) => (backing ? [backing, file] : [file]));
  for (const { path, format } of files) {
    mkdirSync(dirname(path), { recursive: true });
    if (format === 'qcow2')
      assert.equal(spawnSync('qemu-img', ['create', '-f', 'qcow2', path, '1M']).status, 0);
    else writeFileSync(path, '');
    if (format === 'raw') truncateSync(path, 1 << 20);
  }
  mkdirSync('volumes/licence', { recursive: true });
  for (const table of ['slic', 'msdm']) writeFileSync(`volumes/licence/${table}.bin`, acpiTable(table));
}

for (const example of examples) {
  const skip = impossible(example) ?? (installed ? false : `${qemu} is not installed`);
  test(`QEMU makes the machine of ${example.name}`, { skip }, async () => {
    const podDir = mkdtempSync(join(tmpdir(), 'nativirt-argv-'));
    process.chdir(podDir);
    const logger = { info: () => {}, warn: () => {}, error: () => {} };
    const metrics = new DownwardMetrics({ vmi: contextOf(example).vmi, clock: systemClock, logger });
    try {
      const described = contextOf({ ...example, accelerator: 'tcg' });
      makeFiles(described);
      mkdirSync('disks', { recursive: true });
      const context = { ...described, efi: await prepareEfi(described.vmi) };
      const line = commandLine(context);
      mkdirSync('qemu');
      await metrics.listen();
      const machine = await startQemu({
        binary: qemu,
        commandLine: line,
        searchPath: process.env['PATH'] ?? '',
        hasSerial: hasSerialConsole(context),
        onEvent: () => {},
        signal: new AbortController().signal,
      });
      const status = await machine.qmp.execute('query-status');
      assert.equal((status as { status: string }).status, 'prelaunch');
      const blocks = (await machine.qmp.execute('query-block')) as { qdev?: string }[];
      assert.equal(blocks.filter(({ qdev }) => qdev?.includes('disk-')).length, disksOf(context.vmi).length);
      for (const { execute, arguments: given } of line.commands) await machine.qmp.execute(execute, given);
      await machine.qmp.execute('quit');
      assert.deepEqual(await machine.exited, { code: 0, signal: null });
      assert.equal(existsSync('qemu/qmp.sock'), false, 'nothing listens once QEMU is connected');
      assert.equal(readFileSync('qemu/qemu.log', 'utf8'), '');
    } finally {
      metrics.stop();
      process.chdir('/');
      rmSync(podDir, { recursive: true, force: true });
    }
  });
}
