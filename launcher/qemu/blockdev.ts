import { createHash } from 'node:crypto';
import type { Disk } from '../../openapi/generated/types/kubevirt_v1.js';
import type { DiskImage, ImageFile } from '../disks/image.js';
import { failure } from '../errors.js';
import type { Properties } from './model.js';

const maxNodeName = 31;

/** QEMU's name of a disk's block node; volume names may be longer than it allows. */
export function nodeName(volume: string): string {
  const name = `drive-${volume}`;
  if (name.length <= maxNodeName) return name;
  return `drive-${createHash('sha256').update(volume).digest('hex').slice(0, 24)}`;
}

/** The cache mode asked for; else past the page cache where possible, and writing through it where not. */
export function cacheMode(disk: Disk, image: DiskImage): string {
  return disk.cache ?? (image.directIO ? 'none' : 'writethrough');
}

/** The block nodes of a disk: format over file, with the backing layer spelt out so that QEMU never probes. */
export function blockNodes(disk: Disk, image: DiskImage, readOnly: boolean): Properties {
  const cache = cacheOptions(disk, image);
  const top = layer(image.file, { 'read-only': readOnly, discard: 'unmap', cache }, aioOptions(disk, cache));
  return {
    'node-name': nodeName(disk.name),
    ...top,
    // Shared by all machines of one image, so it is worth its place in the page cache.
    ...(image.backing ? { backing: layer(image.backing, { 'read-only': true }, {}) } : {}),
  };
}

function layer({ path, format, storage }: ImageFile, common: Properties, aio: Properties): Properties {
  const driver = storage === 'block' ? 'host_device' : 'file';
  return { driver: format, ...common, file: { driver, filename: path, ...common, ...aio } };
}

function cacheOptions(disk: Disk, image: DiskImage): Properties {
  const mode = cacheMode(disk, image);
  switch (mode) {
    case 'none':
      return { direct: true, 'no-flush': false };
    case 'writethrough':
    case 'writeback':
      return { direct: false, 'no-flush': false };
    default: {
      const why = `cache ${mode} is not one of none, writethrough, writeback`;
      throw failure('InvalidField', 'spec.domain.devices.disks', why);
    }
  }
}

function aioOptions(disk: Disk, cache: Properties): Properties {
  switch (disk.io) {
    case undefined:
      return {};
    case 'threads':
    case 'io_uring':
      return { aio: disk.io };
    case 'native':
      if (cache['direct'] === true) return { aio: 'native' };
      throw failure('InvalidField', 'spec.domain.devices.disks', 'io native needs cache none');
    default: {
      const why = `io ${disk.io} is not one of native, threads, io_uring`;
      throw failure('InvalidField', 'spec.domain.devices.disks', why);
    }
  }
}
