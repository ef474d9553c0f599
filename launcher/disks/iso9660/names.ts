import type { DirectoryNode, TreeNode } from './tree.js';

/** A name as bytes of a directory record, for every node of the tree. */
export type Identifiers = ReadonlyMap<TreeNode, Buffer>;

const jolietLength = 64;

/** `NAME.EXT;1` of ISO 9660 level 1, for readers that know neither Rock Ridge nor Joliet. */
export function primaryIdentifiers(root: DirectoryNode): Identifiers {
  return identify(root, (node, taken) => {
    const dot = node.kind === 'file' ? node.name.lastIndexOf('.') : -1;
    const plain = (text: string) => text.toUpperCase().replace(/[^A-Z0-9_]/g, '_');
    const base = plain(dot > 0 ? node.name.slice(0, dot) : node.name);
    const extension = dot > 0 ? plain(node.name.slice(dot + 1)).slice(0, 3) : '';
    const whole = (stem: string) => (node.kind === 'file' ? `${stem}.${extension};1` : stem);
    return Buffer.from(unique(base, 8, whole, taken), 'latin1');
  });
}

/** Names of Joliet: 64 characters of UCS-2. */
export function jolietIdentifiers(root: DirectoryNode): Identifiers {
  return identify(root, (node, taken) => {
    const plain = node.name.replace(/[*/:;?\\]/g, '_');
    return bigEndian(unique(plain, jolietLength, (stem) => stem, taken));
  });
}

export function bigEndian(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

function identify(root: DirectoryNode, name: (node: TreeNode, taken: Set<string>) => Buffer): Identifiers {
  const identifiers = new Map<TreeNode, Buffer>();
  const visit = (folder: DirectoryNode) => {
    const taken = new Set<string>();
    for (const child of folder.children) {
      identifiers.set(child, name(child, taken));
      if (child.kind === 'directory') visit(child);
    }
  };
  visit(root);
  return identifiers;
}

/** `stem` cut to `length`, with a number at its end when another has that name already. */
function unique(stem: string, length: number, whole: (stem: string) => string, taken: Set<string>): string {
  for (let number = 0; ; number++) {
    const suffix = number === 0 ? '' : `~${number}`;
    const candidate = whole(
      stem.slice(0, length - suffix.length) + suffix.replace('~', length === 8 ? '_' : '~'),
    );
    if (taken.has(candidate)) continue;
    taken.add(candidate);
    return candidate;
  }
}
