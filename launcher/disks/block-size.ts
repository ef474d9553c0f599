import { readFile, stat } from 'node:fs/promises';
import type { Disk } from '../../openapi/generated/types/kubevirt_v1.js';
import { diskError } from './files.js';
import type { BlockSize, ImageFile } from './image.js';

export function matchesVolume({ blockSize }: Disk): boolean {
  return blockSize?.matchVolume !== undefined && (blockSize.matchVolume.enabled ?? true);
}

/** The block sizes of the device, or of the file system that holds the file. */
export async function volumeBlockSize({ path, storage }: ImageFile): Promise<BlockSize> {
  try {
    const { rdev, blksize } = await stat(path);
    return storage === 'block' ? await deviceBlockSize(rdev) : { logical: blksize, physical: blksize };
  } catch (error) {
    throw diskError(path, error);
  }
}

async function deviceBlockSize(device: number): Promise<BlockSize> {
  const queue = `/sys/dev/block/${major(device)}:${minor(device)}/queue`;
  const read = async (name: string) => Number(await readFile(`${queue}/${name}`, 'utf8'));
  const discardGranularity = await read('discard_granularity');
  return {
    logical: await read('logical_block_size'),
    physical: await read('physical_block_size'),
    ...(discardGranularity > 0 ? { discardGranularity } : {}),
  };
}

/** Linux's numbers of a device in the 32 bits that Node gives: 12 bits of major between the halves of the minor. */
function major(device: number): number {
  return (device >>> 8) & 0xfff;
}

function minor(device: number): number {
  return (device & 0xff) | ((device >>> 12) & 0xfff00);
}
