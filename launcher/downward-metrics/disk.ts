import { open } from 'node:fs/promises';

/** "mvbd": how vhostmd's clients know the disk. */
const signature = 0x6d766264;
const headerLength = 16;
/** The whole disk: more than the metrics ever take. */
export const metricsDiskSize = 256 * 1024;

/** The bytes of a metrics disk: signature, a mark that it is being written, the sum of its bytes, its length, the metrics. */
export function metricsDisk(xml: string, busy: boolean): Buffer {
  const content = Buffer.from(xml);
  const disk = Buffer.alloc(metricsDiskSize);
  disk.writeUInt32BE(signature, 0);
  disk.writeUInt32BE(busy ? 1 : 0, 4);
  disk.writeUInt32BE(
    content.reduce((sum, byte) => (sum + byte) >>> 0, 0),
    8,
  );
  disk.writeUInt32BE(content.length, 12);
  content.copy(disk, headerLength);
  return disk;
}

/** Rewrites a disk that a guest may be reading: it is marked as busy until it is whole. */
export async function updateMetricsDisk(path: string, xml: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    const disk = metricsDisk(xml, true);
    await handle.write(disk, 0, headerLength, 0);
    await handle.write(disk, headerLength, disk.length - headerLength, headerLength);
    await handle.write(metricsDisk(xml, false), 0, headerLength, 0);
  } finally {
    await handle.close();
  }
}
