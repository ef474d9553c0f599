import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { afterEach, beforeEach } from 'node:test';
import type { Volume, VirtualMachineInstanceStatus } from '../../openapi/generated/types/kubevirt_v1.js';
import { defaultMachineSettings } from '../../openapi/launcher/settings.js';
import { smallVmi } from '../../test/fake-qemu/launcher-process.js';
import { failure } from '../errors.js';
import { silentLogger } from '../log.js';
import { prepareDisks } from './prepare.js';
import type { ImageTool } from './qemu-img.js';

let podDir = '';
beforeEach(() => {
  podDir = mkdtempSync(join(tmpdir(), 'nativirt-disks-'));
  process.chdir(podDir);
});
afterEach(() => {
  process.chdir('/');
  rmSync(podDir, { recursive: true, force: true });
});

/** Writes just enough of a qcow2 header, and says what it was asked for. */
function recordingTool() {
  const calls: unknown[] = [];
  const tool: ImageTool = {
    createQcow2: (path, from) => {
      calls.push(from);
      const header = Buffer.alloc(512);
      header.write('QFI\u00fb', 'latin1');
      const backing = 'backing' in from ? from.backing : '';
      header.writeBigUInt64BE(backing === '' ? 0n : 256n, 8);
      header.writeUInt32BE(backing.length, 16);
      header.write(backing, 256);
      writeFileSync(path, header);
      return Promise.resolve();
    },
  };
  return { tool, calls };
}

function put(path: string, content: string | Buffer): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
}

const around = { settings: defaultMachineSettings, logger: silentLogger };

async function prepare(
  volume: Omit<Volume, 'name'>,
  imageTool: ImageTool = recordingTool().tool,
  { uid = 'uid-1', status }: { uid?: string; status?: VirtualMachineInstanceStatus } = {},
) {
  const vmi = { ...smallVmi(uid, { volumes: [{ name: 'v', ...volume }] }), ...(status ? { status } : {}) };
  const image = (await prepareDisks({ ...around, vmi, imageTool })).get('v');
  assert.ok(image);
  return image;
}

const containerDisk = { image: 'example/image' };

test('a container disk is an overlay over the image', async () => {
  put('volumes/v/disk.img', 'raw bytes');
  const { tool, calls } = recordingTool();
  const image = await prepare({ containerDisk }, tool);
  assert.deepEqual(calls, [{ backing: '../volumes/v/disk.img', format: 'raw' }]);
  assert.deepEqual(image.file, { path: 'disks/v.qcow2', format: 'qcow2', storage: 'file' });
  assert.deepEqual(image.backing, { path: 'volumes/v/disk.img', format: 'raw', storage: 'file' });
});

test('a restarted launcher uses its overlay again; another VMI and another image do not', async () => {
  put('volumes/v/disk.img', 'raw bytes');
  const { tool, calls } = recordingTool();
  await prepare({ containerDisk }, tool);
  await prepare({ containerDisk }, tool);
  assert.equal(calls.length, 1);
  await prepare({ containerDisk }, tool, { uid: 'uid-2' });
  assert.equal(calls.length, 2);
  writeFileSync('disks/v.qcow2', 'half of an overlay');
  await prepare({ containerDisk }, tool, { uid: 'uid-2' });
  assert.equal(calls.length, 3);
});

test('an image that is missing, empty, a link, or leads elsewhere is refused', async () => {
  await assert.rejects(prepare({ containerDisk }), {
    reason: 'ImageNotFound',
    message: /volumes\/v\/disk\.img/,
  });
  put('volumes/v/disk.img', '');
  await assert.rejects(prepare({ containerDisk }), { reason: 'ImageRefused', message: /empty/ });
  rmSync('volumes/v/disk.img');
  symlinkSync('/etc/passwd', 'volumes/v/disk.img');
  await assert.rejects(prepare({ containerDisk }), { reason: 'ImageRefused', message: /regular file/ });
  rmSync('volumes/v/disk.img');
  const header = Buffer.alloc(512);
  header.write('QFI\u00fb', 'latin1');
  header.writeUInt32BE(3, 4);
  header.writeBigUInt64BE(256n, 8);
  put('volumes/v/disk.img', header);
  await assert.rejects(prepare({ containerDisk }), { reason: 'ImageRefused', message: /backing file/ });
});

test('an empty disk has its capacity, in whole sectors', async () => {
  const { tool, calls } = recordingTool();
  await prepare({ emptyDisk: { capacity: '1000' } }, tool);
  assert.deepEqual(calls, [{ bytes: 1024 }]);
  await assert.rejects(prepare({ emptyDisk: { capacity: 'much' } }, tool, { uid: 'uid-2' }), {
    reason: 'InvalidField',
  });
});

test('a full disk is told as one, and leaves nothing half made', async () => {
  const full: ImageTool = {
    createQcow2: (path) => {
      writeFileSync(path, 'half');
      return Promise.reject(failure('DiskFull', path));
    },
  };
  await assert.rejects(prepare({ emptyDisk: { capacity: '1Gi' } }, full), {
    reason: 'DiskFull',
    message: /no space left on the node/,
  });
  assert.throws(() => statSync('disks/v.qcow2.part'), { code: 'ENOENT' });
});

const status = {
  volumeStatus: [{ name: 'v', target: '', persistentVolumeClaimInfo: { capacity: { storage: '1Gi' } } }],
};
const claim = { persistentVolumeClaim: { claimName: 'claim' } };

test('a claim without a disk gets one of its size, sparse', async () => {
  mkdirSync('volumes/v', { recursive: true });
  const image = await prepare(claim, undefined, { status });
  assert.deepEqual(image.file, { path: 'volumes/v/disk.img', format: 'raw', storage: 'file' });
  const { size, blocks } = statSync('volumes/v/disk.img');
  assert.deepEqual([size, blocks], [2 ** 30, 0]);
});

test('the disk of a claim stays as it is and is raw, whatever its first bytes are', async () => {
  put('volumes/v/disk.img', 'QFI\u00fb written by the guest');
  const image = await prepare(claim, undefined, { status });
  assert.equal(image.file.format, 'raw');
  assert.match(readFileSync('volumes/v/disk.img', 'utf8'), /written by the guest/);
});

test('a claim that is not mounted, has no size, or whose disk is a link is refused', async () => {
  await assert.rejects(prepare(claim), { reason: 'VolumeMissing' });
  mkdirSync('volumes/v', { recursive: true });
  await assert.rejects(prepare(claim), { reason: 'ImageNotFound' });
  symlinkSync('/etc/passwd', 'volumes/v/disk.img');
  await assert.rejects(prepare(claim), { reason: 'VolumeRefused' });
});

test('an ephemeral disk leaves its claim alone', async () => {
  put('volumes/v/disk.img', 'base');
  const { tool, calls } = recordingTool();
  const image = await prepare({ ephemeral: claim }, tool);
  assert.deepEqual(calls, [{ backing: '../volumes/v/disk.img', format: 'raw' }]);
  assert.equal(image.backing?.path, 'volumes/v/disk.img');
});

test('a host disk is there, or is created when the VMI says so', async () => {
  mkdirSync('volumes/v', { recursive: true });
  const path = '/var/data/vm.img';
  await assert.rejects(prepare({ hostDisk: { path, type: 'Disk' } }), { reason: 'ImageNotFound' });
  await prepare({ hostDisk: { path, type: 'DiskOrCreate', capacity: '1Mi' } });
  assert.equal(statSync('volumes/v/vm.img').size, 2 ** 20);
  await prepare({ hostDisk: { path, type: 'Disk' } });
});

const text = (path: string) => readFileSync(path, 'latin1');

test('cloud-init gets user data inline, as base64, or from a secret', async () => {
  await prepare({ cloudInitNoCloud: { userData: '#cloud-config\n#inline' } });
  assert.match(text('disks/v.iso'), /#inline/);
  assert.match(text('disks/v.iso'), /"instance-id":"vm\.ns","local-hostname":"vm"/);
  const userDataBase64 = Buffer.from('#encoded').toString('base64');
  await prepare({ cloudInitNoCloud: { userDataBase64, networkData: 'version: 2 #net' } });
  assert.match(text('disks/v.iso'), /#encoded/);
  assert.match(text('disks/v.iso'), /version: 2 #net/);
  put('volumes/v/userdata', '#secret');
  await prepare({ cloudInitConfigDrive: { secretRef: { name: 's' } } });
  assert.match(text('disks/v.iso'), /#secret/);
});

test('a config drive carries network data, and Ignition configuration as its user data', async () => {
  const userData = '{"ignition":{"version":"3.4.0"}}';
  const networkDataBase64 = Buffer.from('{"links":[]}').toString('base64');
  await prepare({ cloudInitConfigDrive: { userData, networkDataBase64 } });
  const image = text('disks/v.iso');
  assert.match(image, /config-2/);
  assert.ok(image.includes(userData));
  assert.ok(image.includes('{"links":[]}'));
});

test('cloud-init data that is missing or no base64 is refused by its field', async () => {
  await assert.rejects(prepare({ cloudInitNoCloud: { userDataBase64: '###' } }), {
    reason: 'InvalidField',
    message: /userDataBase64/,
  });
  mkdirSync('volumes/v', { recursive: true });
  await assert.rejects(prepare({ cloudInitNoCloud: { secretRef: { name: 's' } } }), {
    reason: 'InvalidField',
    message: /secretRef.*userdata/,
  });
});

test('secrets and config maps become disks of files, as the kubelet mounts them', async () => {
  put('volumes/v/..2026/password', 'hunter2');
  symlinkSync('..2026', 'volumes/v/..data');
  symlinkSync('..data/password', 'volumes/v/password');
  put('volumes/v/..2026/nested/token', 'deep');
  symlinkSync('..data/nested', 'volumes/v/nested');
  await prepare({ secret: { secretName: 's', volumeLabel: 'mylabel' } });
  assert.match(text('disks/v.iso'), /mylabel[^]*deep[^]*hunter2/);
});

test('files that lead out of their volume are refused', async () => {
  mkdirSync('volumes/v', { recursive: true });
  symlinkSync('/etc/passwd', 'volumes/v/password');
  await assert.rejects(prepare({ configMap: { name: 'c' } }), {
    reason: 'VolumeRefused',
    message: /leads out/,
  });
});

test('volumes that nothing makes a disk of are left alone', async () => {
  const vmi = smallVmi('uid-1', {
    domain: {
      memory: { guest: '64Mi' },
      firmware: { acpi: { slicNameRef: 'licence' } },
      devices: { filesystems: [{ name: 'shared', virtiofs: {} }] },
    },
    volumes: [
      { name: 'shared', configMap: { name: 'c' } },
      { name: 'licence', secret: { secretName: 's' } },
      { name: 'dump', memoryDump: { claimName: 'd' } },
    ],
  });
  assert.equal((await prepareDisks({ ...around, vmi, imageTool: recordingTool().tool })).size, 0);
});

test('a metrics disk is there before the first metrics', async () => {
  const image = await prepare({ downwardMetrics: {} });
  const disk = readFileSync(image.file.path);
  assert.deepEqual([disk.length, disk.toString('latin1', 0, 4)], [256 * 1024, 'mvbd']);
});

test('a disk shows the block size of its volume where it is asked to', async () => {
  put('volumes/v/disk.img', 'base');
  const disks = [{ name: 'v', disk: {}, blockSize: { matchVolume: {} } }];
  const spec = {
    domain: { memory: { guest: '64Mi' }, devices: { disks } },
    volumes: [{ name: 'v', ...claim }],
  };
  const images = await prepareDisks({
    ...around,
    vmi: smallVmi('uid-1', spec),
    imageTool: recordingTool().tool,
  });
  const { blksize } = statSync('volumes/v/disk.img');
  assert.deepEqual(images.get('v')?.blockSize, { logical: blksize, physical: blksize });
});

test('space that was reserved in advance is known by the status of the claim', async () => {
  put('volumes/v/disk.img', 'base');
  const preallocated = {
    volumeStatus: [{ name: 'v', target: '', persistentVolumeClaimInfo: { preallocated: true } }],
  };
  assert.equal((await prepare(claim, undefined, { status: preallocated })).preallocated, true);
  assert.equal((await prepare(claim, undefined, { status })).preallocated, undefined);
});

test('no image is made where there is far too little space', async () => {
  mkdirSync('volumes/v', { recursive: true });
  const hostDisk = { path: '/data/big.img', type: 'DiskOrCreate', capacity: '4Pi' };
  await assert.rejects(prepare({ hostDisk }), {
    reason: 'VolumeTooSmall',
    message: /4503599627370496 bytes/,
  });
  assert.throws(() => statSync('volumes/v/big.img'), { code: 'ENOENT' });
});
