/**
 * Makes the test guest: `build-guest.sh [--generic] [--force]`, into build/guest.
 *
 * The Debian cloud kernel starts quickest and knows virtio only. `--generic` makes the guest with the distribution's
 * general kernel, which also drives SATA, USB and emulated network cards, as tags `disk-generic` and `kernel-generic`.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { cpio } from './cpio.js';
import { makeDisk } from './disk.js';
import { KernelModules } from './modules.js';
import { writeLayout } from './oci.js';
import { PackageError, PackageSource } from './packages.js';
import { bootTree, guestPackages, systemTree } from './rootfs.js';
import { Tools } from './tools.js';

const here = import.meta.dirname;
const output = resolve(here, '../../build/guest');
const layout = join(output, 'oci', 'nativirt-guest');

interface Flavour {
  readonly name: 'cloud' | 'generic';
  /** Packages that depend on the newest kernel: Debian's name, then Ubuntu's. */
  readonly kernelPackages: readonly string[];
  readonly directory: string;
  readonly tagSuffix: string;
}

const flavours: Record<Flavour['name'], Flavour> = {
  cloud: {
    name: 'cloud',
    kernelPackages: ['linux-image-cloud-amd64', 'linux-image-virtual'],
    directory: output,
    tagSuffix: '',
  },
  generic: {
    name: 'generic',
    kernelPackages: ['linux-image-amd64', 'linux-image-generic'],
    directory: join(output, 'generic'),
    tagSuffix: '-generic',
  },
};

/** Of everything that the result depends on, apart from the versions of the packages. */
function inputsDigest(): string {
  const hash = createHash('sha256');
  for (const path of readdirSync(here, { recursive: true, encoding: 'utf8' }).sort()) {
    if (path.endsWith('.test.ts') || path.endsWith('.md')) continue;
    const file = join(here, path);
    try {
      hash.update(`${path}\0`).update(readFileSync(file));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EISDIR')) throw error;
    }
  }
  return hash.digest('hex');
}

function report(text: string): void {
  process.stdout.write(`guest: ${text}\n`);
}

interface Kernel {
  readonly image: Buffer;
  readonly modules: KernelModules;
}

function unpackKernel(packages: PackageSource, flavour: Flavour, directory: string): Kernel {
  const meta = packages.firstAvailable(flavour.kernelPackages);
  const image = packages.dependencies(meta).find((name) => /^linux-image-.*\d/.test(name));
  if (image === undefined) throw new PackageError(`package ${meta} names no kernel`);
  // Ubuntu keeps the modules in a package of their own.
  const modules = packages.dependencies(image).filter((name) => name.startsWith('linux-modules-'));
  packages.unpack([image, ...modules], directory);
  const version = image.replace(/^linux-image-(unsigned-)?/, '');
  const modulesDirectory = ['lib/modules', 'usr/lib/modules']
    .map((path) => join(directory, path, version))
    .find((path) => existsSync(path));
  if (modulesDirectory === undefined) throw new PackageError(`package ${image} has no modules of ${version}`);
  return {
    image: readFileSync(join(directory, 'boot', `vmlinuz-${version}`)),
    modules: new KernelModules(modulesDirectory),
  };
}

async function build(flavour: Flavour): Promise<void> {
  const started = performance.now();
  const packages = new PackageSource(join(output, 'packages'));
  const work = join(flavour.directory, 'unpacked');
  await rm(work, { recursive: true, force: true });
  report('fetching packages');
  const unpacked = join(work, 'guest');
  packages.unpack(packages.withLibraries(guestPackages), unpacked);
  const kernel = unpackKernel(packages, flavour, join(work, 'kernel'));
  report(`${((performance.now() - started) / 1000).toFixed(1)} kernel ${kernel.modules.version}`);

  const tools = new Tools(packages, join(work, 'tools'));
  const system = systemTree(unpacked, kernel.modules);
  const initrd = cpio(system);
  const disk = join(flavour.directory, 'disk.qcow2');
  report('making the disk');
  await makeDisk(
    tools,
    {
      kernel: kernel.image,
      initrd: cpio(bootTree(unpacked, kernel.modules)),
      system,
      rootSize: 192 * 1024 * 1024,
    },
    disk,
  );
  await writeFile(join(flavour.directory, 'vmlinuz'), kernel.image);
  await writeFile(join(flavour.directory, 'initrd'), initrd);
  const diskData = await readFile(disk);
  await writeLayout(layout, [
    {
      reference: `nativirt-guest:disk${flavour.tagSuffix}`,
      layers: [[{ path: 'disk/disk.img', data: diskData }]],
    },
    {
      reference: `nativirt-guest:kernel${flavour.tagSuffix}`,
      layers: [
        [
          { path: 'boot/vmlinuz', data: kernel.image },
          { path: 'boot/initrd', data: initrd },
        ],
      ],
    },
  ]);
  await rm(work, { recursive: true, force: true });
  const megabytes = (data: Buffer): string => `${(data.length / 1e6).toFixed(1)} MB`;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  report(
    `disk ${megabytes(diskData)}, kernel ${megabytes(kernel.image)}, initrd ${megabytes(initrd)}; ${seconds} s`,
  );
}

async function buildIfChanged(flavour: Flavour, force: boolean): Promise<void> {
  const stamp = join(flavour.directory, 'stamp');
  const digest = inputsDigest();
  const results = [stamp, join(layout, 'index.json'), join(flavour.directory, 'disk.qcow2')];
  if (!force && results.every((path) => existsSync(path)) && readFileSync(stamp, 'utf8') === digest) return;
  await mkdir(flavour.directory, { recursive: true });
  await rm(stamp, { force: true });
  await build(flavour);
  await writeFile(stamp, digest);
}

const { values } = parseArgs({
  options: { generic: { type: 'boolean', default: false }, force: { type: 'boolean', default: false } },
});
try {
  await buildIfChanged(values.generic ? flavours.generic : flavours.cloud, values.force);
} catch (error) {
  if (!(error instanceof PackageError)) throw error;
  process.stderr.write(`guest: ${error.message}\n`);
  process.exitCode = 1;
}
