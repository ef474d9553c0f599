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

export interface Access {
  readonly readOnly: boolean;
  /** The object that sends SCSI persistent reservations to the device. */
  readonly reservations: string | undefined;
}

/** The block nodes of a disk: format over file, with the backing layer spelt out so that QEMU never probes. */
export function blockNodes(disk: Disk, image: DiskImage, { readOnly, reservations }: Access): Properties {
  const cache = cacheOptions(disk, image);
  // Space that was reserved in advance stays reserved when the guest trims it.
  const discard = image.preallocated ? 'ignore' : 'unmap';
  const file = {
    ...aioOptions(disk, cache),
    ...(reservations === undefined ? {} : { 'pr-manager': reservations }),
  };
  return {
    'node-name': nodeName(disk.name),
    ...layer(image.file, { 'read-only': readOnly, discard, cache }, file),
    // Shared by all machines of one image, so it is worth its place in the page cache.
    ...(image.backing ? { backing: layer(image.backing, { 'read-only': true }, {}) } : {}),
  };
}

function layer({ path, format, storage }: ImageFile, common: Properties, own: Properties): Properties {
  const driver = storage === 'block' ? 'host_device' : 'file';
  return { driver: format, ...common, file: { driver, filename: path, ...common, ...own } };
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
