import { both16, both32, descriptorDate, noDate, sectorSize } from './fields.js';
import { bigEndian } from './names.js';

export interface VolumeDescriptor {
  readonly kind: 'primary' | 'joliet';
  readonly label: string;
  /** Sectors of the whole image. */
  readonly volumeSectors: number;
  readonly pathTableBytes: number;
  readonly littleEndianTable: number;
  readonly bigEndianTable: number;
  readonly rootRecord: Buffer;
}

/** Announces UCS-2 level 3 to readers of supplementary descriptors. */
const ucs2Level3 = Buffer.from('%/E', 'latin1');

export function volumeDescriptor(volume: VolumeDescriptor): Buffer {
  const joliet = volume.kind === 'joliet';
  const sector = Buffer.alloc(sectorSize);
  const put = (offset: number, field: Buffer) => field.copy(sector, offset);
  const text = (offset: number, length: number, value: string) => put(offset, padded(value, length, joliet));
  header(sector, joliet ? 2 : 1);
  text(8, 32, 'LINUX');
  text(40, 32, volume.label);
  put(80, both32(volume.volumeSectors));
  if (joliet) put(88, ucs2Level3);
  put(120, both16(1));
  put(124, both16(1));
  put(128, both16(sectorSize));
  put(132, both32(volume.pathTableBytes));
  sector.writeUInt32LE(volume.littleEndianTable, 140);
  sector.writeUInt32BE(volume.bigEndianTable, 148);
  put(156, volume.rootRecord);
  // Volume set, publisher, preparer, application, then three file names: all blank.
  for (const [offset, length] of [
    [190, 128],
    [318, 128],
    [446, 128],
    [574, 128],
    [702, 37],
    [739, 37],
    [776, 37],
  ] as const) {
    text(offset, length, '');
  }
  put(813, descriptorDate);
  put(830, descriptorDate);
  put(847, noDate);
  put(864, noDate);
  sector[881] = 1;
  return sector;
}

export function terminator(): Buffer {
  const sector = Buffer.alloc(sectorSize);
  header(sector, 255);
  return sector;
}

function header(sector: Buffer, type: number): void {
  sector[0] = type;
  sector.write('CD001', 1, 'latin1');
  sector[6] = 1;
}

function padded(value: string, length: number, joliet: boolean): Buffer {
  if (!joliet) return Buffer.from(value.slice(0, length).padEnd(length, ' '), 'latin1');
  const field = Buffer.alloc(length);
  bigEndian(value.padEnd(length, ' ').slice(0, Math.floor(length / 2))).copy(field);
  return field;
}
