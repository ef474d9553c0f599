import type { MachineSettings } from '../../openapi/launcher/settings.js';

export type Space = Pick<MachineSettings, 'minimumReserve' | 'toleratedLessSpace'>;

/** Of a file system: sizes that are multiples of it suit every block size of a disk. */
const page = 4096;

/**
 * Bytes of the disk image that is made where `asked` bytes are wanted and `free` are there; undefined: too little is. What a file system
 * keeps for itself makes it smaller than the volume that was asked for, so some less is tolerated.
 */
export function imageSize(
  asked: number,
  free: number,
  { minimumReserve, toleratedLessSpace }: Space,
): number | undefined {
  const available = free - minimumReserve;
  if (asked <= available) return asked;
  const size = Math.floor(available / page) * page;
  return size > 0 && size >= (asked * (100 - toleratedLessSpace)) / 100 ? size : undefined;
}
