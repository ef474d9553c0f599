/** A file of the image. `path` is relative, with `/` between folders. */
export interface IsoFile {
  readonly path: string;
  readonly content: Uint8Array;
}

export interface FileNode {
  readonly kind: 'file';
  readonly name: string;
  readonly content: Uint8Array;
}

export interface DirectoryNode {
  readonly kind: 'directory';
  readonly name: string;
  readonly parent: DirectoryNode | undefined;
  readonly children: TreeNode[];
}

export type TreeNode = FileNode | DirectoryNode;

/** @throws RangeError for a path that is empty, absolute, doubled, or leads upwards. */
export function buildTree(files: readonly IsoFile[]): DirectoryNode {
  const root: DirectoryNode = { kind: 'directory', name: '', parent: undefined, children: [] };
  for (const { path, content } of files) {
    const words = path.split('/');
    const name = words.pop() ?? '';
    if ([...words, name].some((word) => word === '' || word === '.' || word === '..')) {
      throw new RangeError(`${JSON.stringify(path)} is not a path inside an image`);
    }
    const folder = words.reduce(enter, root);
    if (folder.children.some((child) => child.name === name)) throw new RangeError(`${path} is there twice`);
    folder.children.push({ kind: 'file', name, content });
  }
  return root;
}

function enter(folder: DirectoryNode, name: string): DirectoryNode {
  const known = folder.children.find((child) => child.name === name);
  if (known?.kind === 'file') throw new RangeError(`${name} is both a file and a folder`);
  if (known) return known;
  const made: DirectoryNode = { kind: 'directory', name, parent: folder, children: [] };
  folder.children.push(made);
  return made;
}

/** All folders, each before what is in it, level by level as path tables want them. */
export function directories(
  root: DirectoryNode,
  order: (a: TreeNode, b: TreeNode) => number,
): DirectoryNode[] {
  const found = [root];
  for (const folder of found) {
    for (const child of [...folder.children].sort(order)) if (child.kind === 'directory') found.push(child);
  }
  return found;
}

export function allFiles(root: DirectoryNode): FileNode[] {
  return root.children.flatMap((child) => (child.kind === 'file' ? [child] : allFiles(child)));
}
