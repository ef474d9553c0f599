/**
 * A partitioned disk with a BIOS boot loader, made without root: partition 1 (FAT) has syslinux, kernel and initrd,
 * partition 2 (ext4) the system.
 */
import { mkdtemp, open, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Tools } from './tools.js';
import type { Tree } from './tree.js';

const sectorSize = 512;
const mebibyte = 1024 * 1024;
const rootLabel = 'nativirt-root';

/** For a kernel under QEMU: quiet, and without what takes long in emulation and serves nobody in a test guest. */
export const kernelArguments = [
  ['console=tty0', 'console=ttyS0,115200n8', 'quiet', 'panic=-1'],
  ['mitigations=off', 'nokaslr', 'cryptomgr.notests', 'tsc=reliable', 'no_timer_check'],
].flat();

interface Partition {
  readonly type: number;
  readonly active: boolean;
  /** Bytes from the start of the disk. */
  readonly offset: number;
  readonly size: number;
}

function partitionEntry({ type, active, offset, size }: Partition): Buffer {
  const entry = Buffer.alloc(16);
  entry[0] = active ? 0x80 : 0;
  // Cylinder, head and sector out of range: "use the block addresses".
  entry.set([0xfe, 0xff, 0xff, type, 0xfe, 0xff, 0xff], 1);
  entry.writeUInt32LE(offset / sectorSize, 8);
  entry.writeUInt32LE(size / sectorSize, 12);
  return entry;
}

function masterBootRecord(code: Buffer, partitions: readonly Partition[]): Buffer {
  const record = Buffer.alloc(sectorSize);
  code.copy(record, 0, 0, 440);
  record.writeUInt32LE(0x6e617669, 440);
  partitions.forEach((partition, index) => partitionEntry(partition).copy(record, 446 + 16 * index));
  record.writeUInt16LE(0xaa55, 510);
  return record;
}

function roundUp(size: number): number {
  return Math.ceil(size / mebibyte) * mebibyte;
}

const syslinuxConfiguration = [
  'SERIAL 0 115200',
  'DEFAULT linux',
  'PROMPT 0',
  'LABEL linux',
  '  KERNEL vmlinuz',
  '  INITRD initrd',
  `  APPEND root=LABEL=${rootLabel} ${kernelArguments.join(' ')}`,
  '',
].join('\n');

interface BootFiles {
  readonly kernel: Buffer;
  readonly initrd: Buffer;
}

async function makeBootPartition(
  tools: Tools,
  image: string,
  partition: Partition,
  files: BootFiles,
  scratch: string,
): Promise<void> {
  const at = `${image}@@${partition.offset}`;
  const sectors = partition.size / sectorSize;
  tools.run('mformat', [
    ...['-i', at, '-T', `${sectors}`, '-h', '255', '-s', '63', '-H', `${partition.offset / sectorSize}`],
    ...['-N', '6e617669', '-v', 'BOOT', '::'],
  ]);
  const contents = { vmlinuz: files.kernel, initrd: files.initrd, 'syslinux.cfg': syslinuxConfiguration };
  for (const [name, data] of Object.entries(contents)) {
    const path = join(scratch, name);
    await writeFile(path, data);
    tools.run('mcopy', ['-i', at, path, `::${name}`]);
  }
  tools.run('syslinux', ['--offset', `${partition.offset}`, '--install', image]);
}

async function makeRootFileSystem(
  tools: Tools,
  file: string,
  size: number,
  tree: Tree,
  scratch: string,
): Promise<void> {
  const staging = join(scratch, 'root');
  await tree.writeTo(staging);
  await writeFile(file, '');
  await truncate(file, size);
  tools.run('mke2fs', [
    ...['-q', '-F', '-t', 'ext4', '-L', rootLabel, '-U', '6e617469-7669-7274-0000-000000000001', '-m', '0'],
    ...[
      '-J',
      'size=4',
      '-E',
      'hash_seed=6e617469-7669-7274-0000-000000000002,root_owner=0:0,lazy_itable_init=0',
    ],
    ...['-O', '^metadata_csum', '-d', staging, file],
  ]);
  if (process.getuid?.() !== 0) {
    // mke2fs copies the builder's own user; in the guest everything is root's.
    const commands = [...tree].flatMap(([path]) => [`sif ${path} uid 0`, `sif ${path} gid 0`]);
    tools.run('debugfs', ['-w', '-f', '-', file], { input: Buffer.from(commands.join('\n')) });
  }
}

export interface DiskContents extends BootFiles {
  readonly system: Tree;
  /** Bytes of the root file system, free space included. */
  readonly rootSize: number;
}

/** Writes a qcow2 image to `target`. */
export async function makeDisk(tools: Tools, contents: DiskContents, target: string): Promise<void> {
  const scratch = await mkdtemp(join(tmpdir(), 'nativirt-guest-'));
  try {
    const raw = join(scratch, 'disk.raw');
    const rootFile = join(scratch, 'root.ext4');
    const bootSize = roundUp(contents.kernel.length + contents.initrd.length + 2 * mebibyte);
    const boot = { type: 0x0e, active: true, offset: mebibyte, size: bootSize };
    const root = { type: 0x83, active: false, offset: mebibyte + bootSize, size: contents.rootSize };
    const code = await readFile(tools.file('syslinux-common', 'usr/lib/syslinux/mbr/mbr.bin'));
    await writeFile(raw, masterBootRecord(code, [boot, root]));
    await truncate(raw, root.offset + root.size);
    await makeBootPartition(tools, raw, boot, contents, scratch);
    await makeRootFileSystem(tools, rootFile, root.size, contents.system, scratch);
    await copyInto(rootFile, raw, root.offset);
    tools.run('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', raw, target]);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Copies a file into another at an offset, leaving blocks of zeros as holes. */
async function copyInto(source: string, target: string, offset: number): Promise<void> {
  const from = await open(source, 'r');
  const to = await open(target, 'r+');
  try {
    const block = Buffer.alloc(mebibyte);
    const zeros = Buffer.alloc(mebibyte);
    for (let at = 0; ; at += block.length) {
      const { bytesRead } = await from.read(block, 0, block.length, at);
      if (bytesRead === 0) break;
      const data = block.subarray(0, bytesRead);
      if (!data.equals(zeros.subarray(0, bytesRead))) await to.write(data, 0, bytesRead, offset + at);
    }
  } finally {
    await from.close();
    await to.close();
  }
}
