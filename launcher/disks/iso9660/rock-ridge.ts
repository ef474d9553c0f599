import { both32, sectorSize } from './fields.js';
import type { TreeNode } from './tree.js';

/** Where the record of a node stands: `.` of the root carries more than others. */
export type RecordRole = 'root-self' | 'entry' | 'link';

const version = 1;
const longestName = 240;
const continued = 0x01;
const continuationEntry = 28;

/** System use entries of a node: POSIX mode and the real name; on the root also which extension this is. */
export function systemUse(node: TreeNode, role: RecordRole): Buffer[] {
  const entries = [posixAttributes(node)];
  if (role === 'root-self') return [entry('SP', Buffer.from([0xbe, 0xef, 0])), ...entries, extension()];
  return role === 'entry' ? [...entries, ...alternateName(node.name)] : entries;
}

function entry(signature: string, data: Buffer): Buffer {
  return Buffer.concat([Buffer.from(signature, 'latin1'), Buffer.from([4 + data.length, version]), data]);
}

function posixAttributes(node: TreeNode): Buffer {
  const mode = node.kind === 'directory' ? 0o040555 : 0o100444;
  const links = node.kind === 'directory' ? 2 : 1;
  return entry('PX', Buffer.concat([mode, links, 0, 0].map(both32)));
}

function alternateName(name: string): Buffer[] {
  const bytes = Buffer.from(name);
  const entries: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += longestName) {
    const piece = bytes.subarray(start, start + longestName);
    const flags = start + longestName < bytes.length ? continued : 0;
    entries.push(entry('NM', Buffer.concat([Buffer.from([flags]), piece])));
  }
  return entries;
}

/** The identifier by which readers know Rock Ridge. */
function extension(): Buffer {
  const id = Buffer.from('RRIP_1991A', 'latin1');
  const description = Buffer.from('Rock Ridge: POSIX names and modes', 'latin1');
  const source = Buffer.from('IEEE P1282', 'latin1');
  const lengths = Buffer.from([id.length, description.length, source.length, 1]);
  return entry('ER', Buffer.concat([lengths, id, description, source]));
}

/** Entries that do not fit into their directory record. A piece never crosses a sector, which readers would not follow. */
export class ContinuationArea {
  private readonly pieces: Buffer[] = [];
  private length = 0;

  constructor(private readonly firstSector: number) {}

  /** As many `entries` as fit into `room` bytes; the rest is put into this area, and a pointer to it is added. */
  fit(entries: readonly Buffer[], room: number): Buffer {
    if (total(entries) <= room) return Buffer.concat(entries);
    let kept = 0;
    while (total(entries.slice(0, kept + 1)) <= room - continuationEntry) kept++;
    const rest = Buffer.concat(entries.slice(kept));
    return Buffer.concat([...entries.slice(0, kept), this.put(rest)]);
  }

  content(): Buffer {
    return Buffer.concat(this.pieces);
  }

  private put(rest: Buffer): Buffer {
    const used = this.length % sectorSize;
    if (used + rest.length > sectorSize) this.append(Buffer.alloc(sectorSize - used));
    const sector = this.firstSector + Math.floor(this.length / sectorSize);
    const offset = this.length % sectorSize;
    this.append(rest);
    return entry('CE', Buffer.concat([sector, offset, rest.length].map(both32)));
  }

  private append(piece: Buffer): void {
    this.pieces.push(piece);
    this.length += piece.length;
  }
}

function total(buffers: readonly Buffer[]): number {
  return buffers.reduce((sum, { length }) => sum + length, 0);
}
