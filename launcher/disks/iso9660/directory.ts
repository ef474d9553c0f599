import { both16, both32, recordDate, sectors, sectorSize } from './fields.js';
import { primaryIdentifiers, jolietIdentifiers, type Identifiers } from './names.js';
import type { ContinuationArea } from './rock-ridge.js';
import { systemUse, type RecordRole } from './rock-ridge.js';
import { directories, type DirectoryNode, type TreeNode } from './tree.js';

const maxRecord = 254;
const directoryFlag = 0x02;
const self = Buffer.from([0]);
const parentOf = Buffer.from([1]);

/** One of the two directory hierarchies of an image over the same files. */
export interface Hierarchy {
  readonly folders: readonly DirectoryNode[];
  readonly identifiers: Identifiers;
  readonly rockRidge: boolean;
}

/** First sectors of files, and of the folders of one hierarchy; bytes of each folder. */
export interface Extents {
  start(node: TreeNode): number;
  size(node: TreeNode): number;
}

export function primaryHierarchy(root: DirectoryNode): Hierarchy {
  return hierarchy(root, primaryIdentifiers(root), true);
}

export function jolietHierarchy(root: DirectoryNode): Hierarchy {
  return hierarchy(root, jolietIdentifiers(root), false);
}

function hierarchy(root: DirectoryNode, identifiers: Identifiers, rockRidge: boolean): Hierarchy {
  return { folders: directories(root, byIdentifier(identifiers)), identifiers, rockRidge };
}

function byIdentifier(identifiers: Identifiers) {
  const key = (node: TreeNode) => identifiers.get(node) ?? self;
  return (a: TreeNode, b: TreeNode) => Buffer.compare(key(a), key(b));
}

/** The records of one folder, sector by sector; a record never crosses into the next. */
export function directoryContent(
  folder: DirectoryNode,
  { identifiers, rockRidge }: Hierarchy,
  extents: Extents,
  area: ContinuationArea,
): Buffer {
  const record = (node: TreeNode, identifier: Buffer, role: RecordRole) =>
    directoryRecord(
      node,
      identifier,
      extents,
      rockRidge ? { entries: systemUse(node, role), area } : undefined,
    );
  const records = [
    record(folder, self, folder.parent ? 'link' : 'root-self'),
    record(folder.parent ?? folder, parentOf, 'link'),
    ...[...folder.children]
      .sort(byIdentifier(identifiers))
      .map((child) => record(child, identifiers.get(child) ?? self, 'entry')),
  ];
  return packIntoSectors(records);
}

/** The record of the root in a volume descriptor. */
export function rootRecord(root: DirectoryNode, extents: Extents): Buffer {
  return directoryRecord(root, self, extents, undefined);
}

function directoryRecord(
  node: TreeNode,
  identifier: Buffer,
  extents: Extents,
  use: { readonly entries: readonly Buffer[]; readonly area: ContinuationArea } | undefined,
): Buffer {
  const base = 33 + identifier.length + (identifier.length % 2 === 0 ? 1 : 0);
  const systemArea = use ? use.area.fit(use.entries, maxRecord - base) : Buffer.alloc(0);
  const length = base + systemArea.length + ((base + systemArea.length) % 2);
  const record = Buffer.alloc(length);
  record[0] = length;
  both32(extents.start(node)).copy(record, 2);
  both32(extents.size(node)).copy(record, 10);
  recordDate.copy(record, 18);
  record[25] = node.kind === 'directory' ? directoryFlag : 0;
  both16(1).copy(record, 28);
  record[32] = identifier.length;
  identifier.copy(record, 33);
  systemArea.copy(record, base);
  return record;
}

function packIntoSectors(records: readonly Buffer[]): Buffer {
  const packed: Buffer[] = [];
  let used = 0;
  for (const record of records) {
    const left = sectorSize - (used % sectorSize);
    const gap = record.length > left ? left : 0;
    packed.push(Buffer.alloc(gap), record);
    used += gap + record.length;
  }
  packed.push(Buffer.alloc(sectors(used) * sectorSize - used));
  return Buffer.concat(packed);
}

/** Folders with their parents by number, for readers that go there directly. */
export function pathTable({ folders, identifiers }: Hierarchy, extents: Extents, order: 'LE' | 'BE'): Buffer {
  const entries = folders.map((folder) => {
    const identifier = identifiers.get(folder) ?? self;
    const entry = Buffer.alloc(8 + identifier.length + (identifier.length % 2));
    entry[0] = identifier.length;
    const parent = folders.indexOf(folder.parent ?? folder) + 1;
    if (order === 'LE') {
      entry.writeUInt32LE(extents.start(folder), 2);
      entry.writeUInt16LE(parent, 6);
    } else {
      entry.writeUInt32BE(extents.start(folder), 2);
      entry.writeUInt16BE(parent, 6);
    }
    identifier.copy(entry, 8);
    return entry;
  });
  return Buffer.concat(entries);
}
