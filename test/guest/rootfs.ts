/** The guest's file systems, from unpacked packages and the overlay beside this file. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { neededLibraries } from './elf.js';
import { deviceModules, storageModules, type KernelModules } from './modules.js';
import { Tree } from './tree.js';

const overlayDirectory = join(import.meta.dirname, 'rootfs');
const initrdDirectory = join(import.meta.dirname, 'initrd');

/** Programs beside busybox: where packages have them, and where the guest does. */
const programs: readonly (readonly [source: string, target: string])[] = [
  ['usr/sbin/qemu-ga', '/usr/bin/qemu-ga'],
  ['usr/sbin/dropbear', '/usr/bin/dropbear'],
  ['usr/lib/openssh/sftp-server', '/usr/lib/sftp-server'],
];

/** The packages that `unpacked` directories below come from. */
export const guestPackages = [
  'busybox-static',
  'qemu-guest-agent',
  'dropbear-bin',
  'openssh-sftp-server',
] as const;

const libraryDirectories = ['usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu', 'usr/lib64', 'lib64'];

function find(unpacked: string, candidates: readonly string[]): string {
  const found = candidates.map((path) => join(unpacked, path)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`the packages have no ${candidates.join(' or ')}`);
  return found;
}

function addBusybox(tree: Tree, unpacked: string): void {
  const busybox = find(unpacked, ['bin/busybox', 'usr/bin/busybox']);
  // Setuid for su and passwd; busybox drops it for everything else.
  tree.file('/usr/bin/busybox', readFileSync(busybox), 0o4755);
  const applets = execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n');
  for (const applet of applets) {
    if (applet !== 'busybox') tree.symlink(`/usr/bin/${applet}`, 'busybox');
  }
}

/** One directory of programs and one of libraries; the older names are links. */
function addSkeleton(tree: Tree): void {
  tree.symlink('/bin', 'usr/bin');
  tree.symlink('/sbin', 'usr/bin');
  tree.symlink('/lib', 'usr/lib');
  tree.symlink('/lib64', 'usr/lib64');
  tree.directory('/usr/bin');
  tree.symlink('/usr/sbin', 'bin');
  for (const path of ['/dev', '/proc', '/sys', '/run', '/newroot']) tree.directory(path);
}

function addProgram(tree: Tree, unpacked: string, source: string, target: string): void {
  const data = readFileSync(find(unpacked, [source]));
  tree.file(target, data, 0o755);
  addLibraries(tree, unpacked, data);
}

function addLibraries(tree: Tree, unpacked: string, program: Buffer): void {
  for (const library of neededLibraries(program)) {
    const loader = library.startsWith('ld-linux');
    const target = loader ? `/usr/lib64/${library}` : `/usr/lib/x86_64-linux-gnu/${library}`;
    if (tree.has(target)) continue;
    const data = readFileSync(
      find(
        unpacked,
        libraryDirectories.map((directory) => `${directory}/${library}`),
      ),
    );
    tree.file(target, data, 0o755);
    addLibraries(tree, unpacked, data);
  }
}

/** The whole system. As it stands it also runs from RAM, as the kernel's first root file system. */
export function systemTree(unpacked: string, kernel: KernelModules): Tree {
  const tree = new Tree();
  addSkeleton(tree);
  for (const path of ['/root', '/home', '/var/log', '/var/lib/cloud', '/etc/dropbear', '/mnt'])
    tree.directory(path);
  tree.directory('/tmp', 0o1777);
  tree.symlink('/var/run', '../run');
  tree.symlink('/etc/mtab', '../proc/self/mounts');
  addBusybox(tree, unpacked);
  for (const [source, target] of programs) addProgram(tree, unpacked, source, target);
  kernel.install(tree, [...storageModules, ...deviceModules]);
  tree.overlay(overlayDirectory);
  tree.chmod('/etc/shadow', 0o600);
  tree.symlink('/init', 'usr/bin/init');
  return tree;
}

/** What the disk image's kernel starts with: just enough to find the root partition. */
export function bootTree(unpacked: string, kernel: KernelModules): Tree {
  const tree = new Tree();
  addSkeleton(tree);
  addBusybox(tree, unpacked);
  kernel.install(tree, storageModules);
  tree.file('/usr/lib/guest/drivers', readFileSync(join(overlayDirectory, 'usr/lib/guest/drivers')));
  tree.file('/etc/modprobe.conf', readFileSync(join(overlayDirectory, 'etc/modprobe.conf')));
  tree.overlay(initrdDirectory);
  return tree;
}
