/** What is in each image, layer by layer. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { launcherUser } from '../../openapi/launcher/pod.js';
import { launcherEnvironment, launcherNodeFlags } from '../../launcher/node-flags.js';
import { addMergedLinks, FileTree } from './file-tree.js';
import { addNpmPackages } from './npm-packages.js';

export interface ImageSource {
  readonly name: string;
  readonly description: string;
  /** Debian packages beside the base's. */
  readonly packages: readonly string[];
  readonly bundles: readonly string[];
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** In every image: what Node needs, and a shell to start it. */
export const basePackages = ['base-files', 'libc6', 'libgcc-s1', 'libstdc++6', 'dash'];

/** Who runs what needs no rights at all. */
export const unprivilegedUser = 65532;

export const home = 'usr/lib/nativirt';
const path = { PATH: '/usr/sbin:/usr/bin' };

export const images: readonly ImageSource[] = [
  {
    name: 'nativirt',
    description: 'API server, controllers, and what moves an installation',
    packages: [],
    bundles: ['nativirt', 'apiserver', 'policy-worker', 'controllers', 'import'],
    user: String(unprivilegedUser),
    entrypoint: ['nativirt'],
    environment: path,
  },
  {
    name: 'nativirt-node-agent',
    description: 'what one node does for its virtual machines',
    packages: ['iproute2', 'nftables', 'procps', 'socat', 'util-linux'],
    bundles: ['nativirt', 'node-agent'],
    user: '0',
    entrypoint: ['nativirt', 'node-agent'],
    environment: path,
  },
  {
    name: 'nativirt-launcher',
    description: 'runs one virtual machine',
    packages: ['busybox-static', 'ovmf', 'passt', 'qemu-system-x86', 'qemu-utils', 'swtpm', 'util-linux'],
    bundles: ['launcher'],
    user: String(launcherUser),
    entrypoint: ['nativirt', 'launcher'],
    environment: { ...path, ...launcherEnvironment },
  },
];

const users = [
  { name: 'root', id: 0 },
  { name: 'qemu', id: launcherUser },
  { name: 'nativirt', id: unprivilegedUser },
  { name: 'nobody', id: 65534 },
];

/** Beside the base's packages: users, Node, and what every process expects. `node` is the program's path. */
export async function addBase(tree: FileTree, node: string): Promise<void> {
  addMergedLinks(tree);
  tree.addFile('usr/bin/node', await readFile(node), true);
  tree.add('usr/bin/sh', { type: 'symlink', target: 'dash' });
  const lines = (line: (user: (typeof users)[number]) => string): string => users.map(line).join('');
  tree.addFile(
    'etc/passwd',
    lines(({ name, id }) => `${name}:x:${id}:${id}::/:/usr/sbin/nologin\n`),
  );
  tree.addFile(
    'etc/group',
    lines(({ name, id }) => `${name}:x:${id}:\n`),
  );
  tree.addFile('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n');
  for (const name of ['tmp', 'var/tmp']) tree.add(name, { type: 'directory', sticky: true });
  for (const name of ['dev', 'proc', 'sys', 'run', 'var/lib']) tree.add(name, { type: 'directory' });
  tree.add('var/run', { type: 'symlink', target: '../run' });
}

/** Our own part of an image: bundles and the npm packages that they load. `root`: the checkout, built. */
export async function applicationTree(image: ImageSource, root: string): Promise<FileTree> {
  const tree = new FileTree();
  for (const bundle of image.bundles)
    tree.addFile(`${home}/dist/${bundle}.js`, await readFile(join(root, 'dist', `${bundle}.js`)));
  tree.addFile(`${home}/package.json`, JSON.stringify({ name: 'nativirt', type: 'module' }));
  if (image.bundles.includes('nativirt')) {
    tree.addFile(`${home}/bin/nativirt`, await readFile(join(root, 'bin/nativirt')), true);
    tree.add('usr/bin/nativirt', { type: 'symlink', target: '../lib/nativirt/bin/nativirt' });
  } else {
    tree.addFile('usr/bin/nativirt', launcherProgram, true);
    tree.addFile(`${home}/image-holder`, await imageHolder(join(root, 'dist/launcher.js')), true);
    tree.add('usr/bin/cp', { type: 'symlink', target: 'busybox' });
  }
  await addNpmPackages(tree, home, { root, names: await importedPackages(image, root) });
  return tree;
}

/** `nativirt launcher …` where there is nothing else: Node with the settings that keep it small. */
const launcherProgram = `#!/bin/sh
[ "$1" = launcher ] || { echo "nativirt: this image has only the command launcher" >&2; exit 2; }
shift
exec node ${launcherNodeFlags.join(' ')} /${home}/dist/launcher.js "$@"
`;

/** The program that keeps containers of disk images alive, as the launcher writes it. */
async function imageHolder(launcher: string): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-image-'));
  try {
    const file = join(directory, 'image-holder');
    await promisify(execFile)(process.execPath, [launcher, '--write-image-holder', file]);
    return await readFile(file);
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** A pod's credentials are its service account, never a plugin of a kubeconfig, which this package is for. */
const notInPods = '@kubernetes/client-node';

async function importedPackages(image: ImageSource, root: string): Promise<string[]> {
  // The build writes it.
  const imports = JSON.parse(await readFile(join(root, 'dist/imports.json'), 'utf8')) as Record<
    string,
    string[]
  >;
  const names = image.bundles.flatMap((bundle) => imports[bundle] ?? []);
  return [...new Set(names)].filter((name) => name !== notInPods).sort();
}
