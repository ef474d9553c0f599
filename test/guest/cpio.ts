/** The `newc` archive that Linux unpacks into its first root file system. */
import type { Entry, Tree } from './tree.js';

const fileTypes: Record<Entry['kind'], number> = {
  directory: 0o040000,
  file: 0o100000,
  symlink: 0o120000,
  characterDevice: 0o020000,
};

function padding(length: number): Buffer {
  return Buffer.alloc((4 - (length % 4)) % 4);
}

interface Header {
  readonly inode: number;
  readonly mode: number;
  readonly links: number;
  readonly size: number;
  readonly major?: number;
  readonly minor?: number;
}

function member(name: string, header: Header, data: Buffer): Buffer[] {
  const { inode, mode, links, size, major = 0, minor = 0 } = header;
  const nameBytes = Buffer.from(`${name}\0`);
  const fields = [inode, mode, 0, 0, links, 0, size, 0, 0, major, minor, nameBytes.length, 0];
  const head = Buffer.concat([
    Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`),
    nameBytes,
  ]);
  return [head, padding(head.length), data, padding(data.length)];
}

function contentOf(entry: Entry): Buffer {
  if (entry.kind === 'file') return entry.data;
  return entry.kind === 'symlink' ? Buffer.from(entry.target) : Buffer.alloc(0);
}

/** Modification times are 0: equal trees give equal archives. */
export function cpio(tree: Tree): Buffer {
  const parts: Buffer[] = [];
  let inode = 1;
  for (const [path, entry] of tree) {
    const data = contentOf(entry);
    const permissions = entry.kind === 'symlink' ? 0o777 : entry.mode;
    parts.push(
      ...member(
        path.slice(1),
        {
          inode: inode++,
          mode: fileTypes[entry.kind] | permissions,
          links: entry.kind === 'directory' ? 2 : 1,
          size: data.length,
          ...(entry.kind === 'characterDevice' ? { major: entry.major, minor: entry.minor } : {}),
        },
        data,
      ),
    );
  }
  parts.push(...member('TRAILER!!!', { inode: 0, mode: 0, links: 1, size: 0 }, Buffer.alloc(0)));
  return Buffer.concat(parts);
}
