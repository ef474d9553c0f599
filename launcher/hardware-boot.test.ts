import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { launcherUser } from '../openapi/launcher/pod.js';
import { podLayout } from '../openapi/launcher/protocol.js';
import { bundleLauncher, LauncherProcess, readUntil, smallVmi } from '../test/fake-qemu/launcher-process.js';
import { findExecutable } from './qemu/executable.js';
import { virtiofsdPlaces } from './qemu/virtiofsd.js';
import { hardwareSpec } from '../test/guest/hardware/spec.js';

const guests = fileURLToPath(new URL('../build/guest/', import.meta.url));
/** Its kernel drives virtio and little else; what it does not drive it sees on the PCI bus. */
const cloudGuest = join(guests, 'disk.qcow2');
const generalGuest = join(guests, 'generic/disk.qcow2');
const qemu = 'qemu-system-x86_64';

function missing(image: string, how: string): string | false {
  for (const program of [qemu, 'swtpm']) {
    if (spawnSync(program, ['--version']).status !== 0) return `${program} is not installed`;
  }
  if (!virtiofsdPlaces.some((place) => findExecutable(place, process.env['PATH'] ?? ''))) {
    return 'virtiofsd is not installed';
  }
  return existsSync(image) ? false : `its image is not built (${how})`;
}

/** What the guest found, by the lines `name=value` that its script wrote between two marks. */
function parseReport(console: string): ReadonlyMap<string, string> {
  const report = console.slice(console.indexOf('report-begin'), console.indexOf('report-end'));
  return new Map(
    [...report.matchAll(/^([\w./:-]+)=(.*?)\r?$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
}

type Expectations = Readonly<Record<string, Readonly<Record<string, string | RegExp>>>>;

/** What every guest sees. */
const common: Expectations = {
  processors: { cpus: '4', sockets: '2', hypervisor: 'hypervisor' },
  memory: { memory: /^(2[6-9]|3[0-2])\d{4}$/ },
  'firmware tables': {
    'dmi.product_uuid': '5d307ca9-b3ef-428c-8861-06e72d69f223',
    'dmi.product_serial': 'serial-1',
    'dmi.chassis_vendor': 'Example, Inc.',
    'dmi.chassis_asset_tag': 'asset-7',
    'acpi.SLIC': '36',
  },
  disks: {
    'disk.ROOT1': /\/virtio\d+\/block\/vd/,
    'disk.THERE': /\/0000:81:01\.0\/virtio/,
    'there.blockSize': '4096',
    'there.readOnly': '1',
    'disk.SCSI1': /\/virtio\d+\/host\d+\/target/,
    'claim.sectors': '6144',
  },
  files: {
    'file.shared': 'from the node',
    'file.written': 'from the guest',
    'file.settings': 'blue',
  },
  devices: { 'link.virtio_net': '1', rng: /virtio/, tpm: '2', agent: 'yes' },
  'metrics of the node': { metrics: /TotalCPUTime/, 'disk.metrics': 'mvbd' },
  'the PCI bus': {
    'pci.1234.1111': '0300',
    'pci.8086.2922': '0106',
    'pci.8086.10d3': '0200',
    'pci.8086.293e': '0403',
    'pci.8086.25ab': '0880',
    'pci.1b36.000d': '0c03',
    'pci.1b36.0011': '0880',
  },
};

const driven: Expectations = {
  'SATA and USB': {
    'disk.SATA1': /\/ata\d+\//,
    'disk.usb': /\/usb\d+\//,
    'cdrom.count': '2',
    tablet: /Tablet/,
  },
  'a cut link': { 'link.e1000e': '0' },
};

async function boot(t: TestContext, image: string, expected: Expectations, drivesWatchdog: boolean) {
  const { bundle, remove } = await bundleLauncher();
  const podDir = mkdtempSync(join(tmpdir(), 'nativirt-pod-'));
  fillVolumes(podDir, image);
  if (user !== undefined) giveTo(user, podDir);
  const launcher = new LauncherProcess({ bundle, qemu, podDir, user });
  try {
    const client = await launcher.connect();
    await client.call('subscribe');
    const console = await (await launcher.connect()).console('read');
    await client.call('start', { vmi: smallVmi(launcher.uid, hardwareSpec) });
    const started = await client.state('Running', 'Failed');
    assert.equal(started.state, 'Running', started.message);
    const found = parseReport(await readUntil(console, 'report-end'));
    for (const [name, facts] of Object.entries(expected)) {
      await t.test(name, () => {
        for (const [fact, value] of Object.entries(facts)) {
          const got = found.get(fact) ?? '(nothing)';
          if (typeof value === 'string') assert.equal(got, value, fact);
          else assert.match(got, value, fact);
        }
      });
    }
    if (!drivesWatchdog) await client.call('shutdown', { gracePeriodSeconds: 60 });
    const end = await client.state('Shutoff', 'Killed', 'Failed');
    assert.equal(end.reason, drivesWatchdog ? 'WatchdogExpired' : 'ShutdownRequested', end.message);
    await launcher.exited;
  } finally {
    await launcher.remove();
    remove();
  }
}

/** Who runs launchers in pods, if this process may become that user, who then runs Node and makes what virtiofsd needs. */
const user =
  process.getuid?.() === 0 && asLauncher('unshare', '--user', 'true') && asLauncher(process.execPath, '-v')
    ? launcherUser
    : undefined;

function asLauncher(program: string, ...argv: readonly string[]): boolean {
  return spawnSync(program, argv, { uid: launcherUser, gid: launcherUser }).status === 0;
}

function giveTo(owner: number, directory: string): void {
  for (const path of ['', ...readdirSync(directory, { recursive: true, encoding: 'utf8' })])
    chownSync(join(directory, path), owner, owner);
}

function fillVolumes(podDir: string, image: string): void {
  const put = (path: string, content: string | Buffer) => {
    const file = join(podDir, podLayout.volumes, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  };
  put('shared/greeting', 'from the node');
  put('settings/colour', 'blue');
  put('claim/disk.img', Buffer.alloc(3 << 20));
  put('licence/slic.bin', acpiTable('SLIC'));
  const root = join(podDir, podLayout.volumes, 'root');
  mkdirSync(root);
  copyFileSync(image, join(root, podLayout.diskFile));
}

test(
  'a guest finds the hardware that its spec describes',
  { skip: missing(cloudGuest, 'test/guest/build-guest.sh') },
  (t) => boot(t, cloudGuest, common, false),
);

test(
  'a guest with drivers for everything uses it, and its watchdog acts',
  { skip: missing(generalGuest, 'test/guest/build-guest.sh --generic') },
  (t) => boot(t, generalGuest, { ...common, ...driven }, true),
);

/** A table of nothing but its header. */
function acpiTable(signature: string): Buffer {
  const table = Buffer.alloc(36);
  table.write(signature);
  table.writeUInt32LE(table.length, 4);
  return table;
}
