import { volumeDescriptor, terminator } from './descriptor.js';
import {
  directoryContent,
  jolietHierarchy,
  pathTable,
  primaryHierarchy,
  rootRecord,
  type Extents,
  type Hierarchy,
} from './directory.js';
import { padToSector, sectors, sectorSize } from './fields.js';
import { ContinuationArea } from './rock-ridge.js';
import { allFiles, buildTree, type DirectoryNode, type IsoFile, type TreeNode } from './tree.js';

export type { IsoFile } from './tree.js';

const maxLabel = 32;
/** Sixteen sectors are left to boot loaders, then come two volume descriptors and the terminator. */
const firstFreeSector = 19;
const unplaced: Extents = { start: () => 0, size: () => 0 };

/**
 * An ISO 9660 image with Rock Ridge and Joliet names. The same input always gives the same bytes.
 * @throws RangeError for a label of more than 32 characters or a path that cannot be in an image.
 */
export function isoImage(label: string, files: readonly IsoFile[]): Buffer {
  if (label.length > maxLabel)
    throw new RangeError(`the volume label ${label} is longer than ${maxLabel} characters`);
  const root = buildTree(files);
  const layout = new Layout(root);
  const primary = layout.place(primaryHierarchy(root));
  const joliet = layout.place(jolietHierarchy(root));
  layout.placeFiles();
  const system = Buffer.alloc(16 * sectorSize);
  const describe = (kind: 'primary' | 'joliet', placed: PlacedHierarchy) =>
    volumeDescriptor({ kind, label, volumeSectors: layout.end, ...placed.describe(layout) });
  return Buffer.concat([
    system,
    describe('primary', primary),
    describe('joliet', joliet),
    terminator(),
    ...primary.content(layout),
    ...joliet.content(layout),
    ...allFiles(root).map(({ content }) => padToSector(content)),
  ]);
}

/** Hands out sectors in the order in which everything is written. */
class Layout {
  end = firstFreeSector;
  private readonly fileStart = new Map<TreeNode, number>();

  constructor(private readonly root: DirectoryNode) {}

  take(count: number): number {
    const start = this.end;
    this.end += count;
    return start;
  }

  place(hierarchy: Hierarchy): PlacedHierarchy {
    return new PlacedHierarchy(this.root, hierarchy, this);
  }

  placeFiles(): void {
    for (const file of allFiles(this.root)) this.fileStart.set(file, this.take(sectors(file.content.length)));
  }

  startOf(node: TreeNode): number {
    return this.fileStart.get(node) ?? 0;
  }
}

/** A hierarchy with its sectors: both path tables, the folders, then what did not fit into their records. */
class PlacedHierarchy {
  private readonly tableBytes: number;
  private readonly tables: readonly [little: number, big: number];
  private readonly folders = new Map<TreeNode, { readonly start: number; readonly size: number }>();
  private readonly areaStart: number;

  constructor(
    private readonly root: DirectoryNode,
    private readonly hierarchy: Hierarchy,
    layout: Layout,
  ) {
    // Sizes do not depend on where anything is, so a first pass over unplaced extents gives them.
    this.tableBytes = pathTable(hierarchy, unplaced, 'LE').length;
    this.tables = [layout.take(sectors(this.tableBytes)), layout.take(sectors(this.tableBytes))];
    const area = new ContinuationArea(0);
    for (const folder of hierarchy.folders) {
      const size = directoryContent(folder, hierarchy, unplaced, area).length;
      this.folders.set(folder, { start: layout.take(sectors(size)), size });
    }
    this.areaStart = layout.take(sectors(area.content().length));
  }

  describe(layout: Layout) {
    const [littleEndianTable, bigEndianTable] = this.tables;
    return {
      pathTableBytes: this.tableBytes,
      littleEndianTable,
      bigEndianTable,
      rootRecord: rootRecord(this.root, this.extents(layout)),
    };
  }

  content(layout: Layout): Buffer[] {
    const extents = this.extents(layout);
    const area = new ContinuationArea(this.areaStart);
    const folders = this.hierarchy.folders.map((folder) =>
      directoryContent(folder, this.hierarchy, extents, area),
    );
    return [
      padToSector(pathTable(this.hierarchy, extents, 'LE')),
      padToSector(pathTable(this.hierarchy, extents, 'BE')),
      ...folders,
      padToSector(area.content()),
    ];
  }

  private extents(layout: Layout): Extents {
    return {
      start: (node) => this.folders.get(node)?.start ?? layout.startOf(node),
      size: (node) => (node.kind === 'file' ? node.content.length : (this.folders.get(node)?.size ?? 0)),
    };
  }
}
