/** The npm packages that a bundle loads while it runs, from node_modules. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileTree } from './file-tree.js';

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dependencies?: Readonly<Record<string, string>> }>>;
}

/** Of a path inside a package. */
const unneeded =
  /^(\.[^/]+|tests?|docs?|examples?|benchmarks?|deps)$|\.(md|markdown|ts|mts|cts|map|flow|cc|h|gyp|gypi)$|^prebuilds\/(?!linux-)/;

/** Folders of `names` and of all that they depend on, as Node finds them: `node_modules/a/node_modules/b`. */
export function dependencyFolders(lock: Lock, names: readonly string[]): string[] {
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    const folder = resolve(lock, name, from);
    if (folder === undefined || found.has(folder)) return;
    found.add(folder);
    for (const each of Object.keys(lock.packages[folder]?.dependencies ?? {})) visit(each, folder);
  };
  for (const name of names) {
    if (resolve(lock, name, '') === undefined) throw new Error(`package-lock.json has no ${name}`);
    visit(name, '');
  }
  return [...found].sort();
}

function resolve(lock: Lock, name: string, from: string): string | undefined {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('/node_modules/')))) {
    const folder = `${base === '' ? '' : `${base}/`}node_modules/${name}`;
    if (Object.hasOwn(lock.packages, folder)) return folder;
    if (base === '') return undefined;
  }
}

/** Adds those packages below `target`. */
export async function addNpmPackages(
  tree: FileTree,
  target: string,
  { root, names }: { readonly root: string; readonly names: readonly string[] },
): Promise<void> {
  // npm writes it.
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lock;
  for (const folder of dependencyFolders(lock, names)) await addFolder(tree, { root, folder, target });
}

async function addFolder(
  tree: FileTree,
  from: { readonly root: string; readonly folder: string; readonly target: string },
  below = '',
): Promise<void> {
  const { root, folder, target } = from;
  for (const entry of await readdir(join(root, folder, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    if (path === 'node_modules' || unneeded.test(path)) continue;
    if (entry.isDirectory()) await addFolder(tree, from, path);
    else if (entry.isFile())
      tree.addFile(`${target}/${folder}/${path}`, await readFile(join(root, folder, path)));
  }
}
