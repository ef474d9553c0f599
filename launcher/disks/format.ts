import type { ImageFormat } from './image.js';

/** As much of a file as `inspect` wants to see. */
export const headerLength = 112;

const qcow2Magic = 0x514649fb;
const externalDataFile = 1n << 2n;

/** Magic numbers of formats that users bring and that QEMU would have to guess; their first bytes, as latin1. */
const foreign: readonly (readonly [magic: string, name: string])[] = [
  ['KDMV', 'VMDK'],
  ['COWD', 'VMDK'],
  ['# Disk DescriptorFile', 'VMDK'],
  ['vhdxfile', 'VHDX'],
  ['conectix', 'VHD'],
  ['<<< ', 'VDI'],
  ['QED\0', 'QED'],
  ['\u001f\u008b', 'gzip'],
  ['\u00fd7zXZ', 'xz'],
  ['BZh', 'bzip2'],
  ['(\u00b5/\u00fd', 'zstd'],
];

export type Inspection =
  | { readonly ok: true; readonly format: ImageFormat; readonly virtualSize: number | undefined }
  | { readonly ok: false; readonly why: string };

/**
 * The format of a disk image by its header. A qcow2 image that names other files is refused: whoever made it would choose
 * what QEMU opens on the node.
 */
export function inspect(header: Buffer): Inspection {
  if (header.length >= 4 && header.readUInt32BE(0) === qcow2Magic) return inspectQcow2(header);
  const start = header.toString('latin1');
  const known = foreign.find(([magic]) => start.startsWith(magic));
  if (known) return { ok: false, why: `its format is ${known[1]}; raw and qcow2 are supported` };
  return { ok: true, format: 'raw', virtualSize: undefined };
}

function inspectQcow2(header: Buffer): Inspection {
  if (header.length < 72) return { ok: false, why: 'its qcow2 header is cut off' };
  const version = header.readUInt32BE(4);
  if (version !== 2 && version !== 3) return { ok: false, why: `its qcow2 version ${version} is not 2 or 3` };
  if (header.readBigUInt64BE(8) !== 0n) return { ok: false, why: 'it is a qcow2 image with a backing file' };
  if (header.readUInt32BE(32) !== 0) return { ok: false, why: 'it is an encrypted qcow2 image' };
  if (version === 3) {
    if (header.length < 104) return { ok: false, why: 'its qcow2 header is cut off' };
    if ((header.readBigUInt64BE(72) & externalDataFile) !== 0n) {
      return { ok: false, why: 'it is a qcow2 image with a data file' };
    }
  }
  return { ok: true, format: 'qcow2', virtualSize: Number(header.readBigUInt64BE(24)) };
}

/** The backing file name in the header of a qcow2 image that we made; undefined when it has none. */
export function backingFileName(header: Buffer): string | undefined {
  if (header.length < 72 || header.readUInt32BE(0) !== qcow2Magic) return undefined;
  const offset = Number(header.readBigUInt64BE(8));
  const length = header.readUInt32BE(16);
  if (offset === 0 || offset + length > header.length) return undefined;
  return header.toString('utf8', offset, offset + length);
}
