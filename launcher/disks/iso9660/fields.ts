export const sectorSize = 2048;

/** A number in both byte orders, as ISO 9660 writes most of them. */
export function both32(value: number): Buffer {
  const field = Buffer.alloc(8);
  field.writeUInt32LE(value, 0);
  field.writeUInt32BE(value, 4);
  return field;
}

export function both16(value: number): Buffer {
  const field = Buffer.alloc(4);
  field.writeUInt16LE(value, 0);
  field.writeUInt16BE(value, 2);
  return field;
}

export function sectors(bytes: number): number {
  return Math.ceil(bytes / sectorSize);
}

export function padToSector(content: Uint8Array): Buffer {
  const padded = Buffer.alloc(sectors(content.length) * sectorSize);
  padded.set(content);
  return padded;
}

/** One date for everything, so that equal files make equal images: the first of January 2000. */
export const recordDate = Buffer.from([100, 1, 1, 0, 0, 0, 0]);
export const descriptorDate = Buffer.from('2000010100000000\0', 'latin1');
export const noDate = Buffer.from('0000000000000000\0', 'latin1');
