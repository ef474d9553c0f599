/** A layer: a tree as a compressed archive that is the same, byte for byte, whenever the tree is. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { pack, type Header } from 'tar-stream';
import type { FileEntry, FileTree } from './file-tree.js';

export interface Layer {
  readonly compressed: Buffer;
  /** Of `compressed`. */
  readonly digest: string;
  /** Digest of the archive before it was compressed. */
  readonly diffId: string;
}

export const sha256 = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** `epoch`: the time of all files, in seconds. */
export async function makeLayer(tree: FileTree, epoch: number): Promise<Layer> {
  const archive = await makeArchive(
    tree.entries().map(([name, entry]) => ({ name, entry })),
    epoch,
  );
  const compressed = await promisify(gzip)(archive, { level: 6 });
  return { compressed, digest: sha256(compressed), diffId: sha256(archive) };
}

/** A tar of these entries in this order, all of them root's. */
export async function makeArchive(
  entries: readonly { readonly name: string; readonly entry: FileEntry }[],
  epoch: number,
): Promise<Buffer> {
  const archive = pack();
  const chunks: Buffer[] = [];
  const collected = (async () => {
    for await (const chunk of archive) chunks.push(chunk as Buffer);
  })();
  const mtime = new Date(epoch * 1000);
  for (const { name, entry } of entries)
    archive.entry(
      { ...headers(name, entry), mtime },
      entry.type === 'file' ? entry.content : Buffer.alloc(0),
    );
  archive.finalize();
  await collected;
  return Buffer.concat(chunks);
}

function headers(name: string, entry: FileEntry): Partial<Header> & Pick<Header, 'name'> {
  const owner = { uid: 0, gid: 0, uname: '', gname: '' };
  switch (entry.type) {
    case 'file':
      return {
        name,
        ...owner,
        type: 'file',
        mode: entry.executable ? 0o755 : 0o644,
        size: entry.content.length,
      };
    case 'symlink':
      return { name, ...owner, type: 'symlink', mode: 0o777, linkname: entry.target };
    case 'directory':
      return { name: `${name}/`, ...owner, type: 'directory', mode: entry.sticky === true ? 0o1777 : 0o755 };
  }
}
