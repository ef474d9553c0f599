import { constants } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { HostDisk } from '../../openapi/generated/types/kubevirt_v1.js';
import { blockDeviceDirectory } from '../../openapi/launcher/pod.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { failure } from '../errors.js';
import { quantityBytes } from '../quantity.js';
import type { DiskContext } from './context.js';
import { diskError, look, lookThrough, supportsDirectIO } from './files.js';
import type { DiskImage, ImageFile } from './image.js';
import { imageSize } from './image-size.js';
import { overlay } from './overlay.js';

/**
 * A claim: `volumes/<volume>` is its block device, or the directory in which `disk.img` is the disk. It is always raw: the
 * guest writes its first bytes, so they say nothing about its format.
 */
export async function claimDisk(volume: string, readOnly: boolean, context: DiskContext): Promise<DiskImage> {
  const file = await claimFile(volume, readOnly, context);
  const { preallocated = false } = claimInfo(volume, context) ?? {};
  const directIO = await supportsDirectIO(file.path);
  return { volume, file, backing: undefined, readOnly, directIO, ...(preallocated ? { preallocated } : {}) };
}

/** A claim whose content stays as it is. */
export async function ephemeralDisk(volume: string, context: DiskContext): Promise<DiskImage> {
  return await overlay(volume, await claimFile(volume, true, context), context.imageTool);
}

async function claimFile(volume: string, readOnly: boolean, context: DiskContext): Promise<ImageFile> {
  const place = `${podLayout.volumes}/${volume}`;
  const device = `${blockDeviceDirectory}/${volume}`;
  if ((await look(device))?.isBlockDevice()) return { path: device, format: 'raw', storage: 'block' };
  const stats = await lookThrough(place);
  if (stats?.isBlockDevice()) return { path: place, format: 'raw', storage: 'block' };
  if (!stats?.isDirectory())
    throw failure('VolumeMissing', volume, `${place} (a directory or a block device)`);
  const path = `${place}/${podLayout.diskFile}`;
  const size = readOnly ? undefined : claimSize(volume, context);
  await sparseFile(volume, path, size, context);
  return { path, format: 'raw', storage: 'file' };
}

function claimInfo(volume: string, { vmi }: DiskContext) {
  return vmi.status?.volumeStatus?.find(({ name }) => name === volume)?.persistentVolumeClaimInfo;
}

/** Bytes of the claim, as the VMI's status tells them. */
function claimSize(volume: string, context: DiskContext): number | undefined {
  const info = claimInfo(volume, context);
  const quantity = info?.capacity?.['storage'] ?? info?.requests?.['storage'];
  return quantity === undefined ? undefined : quantityBytes(quantity);
}

/** A file on the node: `volumes/<volume>` is the directory that holds it. */
export async function hostDisk(volume: string, source: HostDisk, context: DiskContext): Promise<DiskImage> {
  const place = `${podLayout.volumes}/${volume}`;
  if (!(await lookThrough(place))?.isDirectory()) throw failure('VolumeMissing', volume, place);
  const name = basename(source.path);
  if (name === '' || name === '.' || name === '..') {
    throw failure('InvalidField', `spec.volumes (${volume}) hostDisk.path`, `${source.path} names no file`);
  }
  const create = source.type === 'DiskOrCreate' && source.capacity !== undefined;
  const path = `${place}/${name}`;
  await sparseFile(volume, path, create ? quantityBytes(source.capacity ?? '') : undefined, context);
  return {
    volume,
    file: { path, format: 'raw', storage: 'file' },
    backing: undefined,
    readOnly: false,
    directIO: await supportsDirectIO(path),
  };
}

/** Makes sure of a disk file at `path`, creating it with `asked` bytes, or somewhat less where there is less space. Whoever fills the volume may not point elsewhere. */
async function sparseFile(
  volume: string,
  path: string,
  asked: number | undefined,
  context: DiskContext,
): Promise<void> {
  const stats = await look(path);
  if (stats) {
    if (!stats.isFile()) throw failure('VolumeRefused', volume, `${path} is not a regular file`);
    if (stats.size > 0) return;
  }
  if (asked === undefined) throw failure('ImageNotFound', volume, path);
  const size = await sizeFor(volume, path, asked, context);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
  try {
    const handle = await open(path, flags, 0o600);
    try {
      await handle.truncate(size);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw diskError(path, error);
  }
}

async function sizeFor(
  volume: string,
  path: string,
  asked: number,
  { settings, logger }: DiskContext,
): Promise<number> {
  const { bavail, bsize } = await statfs(dirname(path)).catch((error: unknown) => {
    throw diskError(path, error);
  });
  const free = bavail * bsize;
  const size = imageSize(asked, free, settings);
  if (size === undefined) throw failure('VolumeTooSmall', volume, asked, free);
  if (size < asked)
    logger.warn('The disk image is smaller than the volume that was asked for', {
      volume,
      asked,
      free,
      size,
    });
  return size;
}
