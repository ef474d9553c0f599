import type { Disk } from '../../openapi/generated/types/kubevirt_v1.js';
import type { DiskImage } from '../disks/image.js';
import { failure } from '../errors.js';
import { cacheMode, nodeName } from './blockdev.js';
import { sataPorts, scsiController, usbController } from './buses.js';
import { topology, vcpus } from './cpu.js';
import { ioThreadId } from './io-threads.js';
import {
  device,
  given,
  virtioDevice,
  type DevicePart,
  type MachineContext,
  type Properties,
} from './model.js';
import { pciAddress } from './pci-address.js';

export interface Attachment {
  readonly disk: Disk;
  readonly index: number;
  readonly target: 'disk' | 'cdrom' | 'lun';
  readonly bus: string;
  /** Undefined: a CD-ROM drive without a medium. */
  readonly image: DiskImage | undefined;
  readonly ioThread: number | undefined;
}

export function isReadOnly({ target, image, disk }: Attachment): boolean {
  return target === 'cdrom' || image?.readOnly || (disk.disk?.readonly ?? disk.lun?.readonly ?? false);
}

/** Of the device, by the disk's name. */
export const diskId = (name: string) => `disk-${name}`;

/** What the guest sees of a disk. `units` counts the places that are taken on the SATA and SCSI buses. */
export function frontend(
  context: MachineContext,
  attachment: Attachment,
  units: { sata: number; scsi: number },
  bootindex: number | undefined,
): DevicePart {
  const { disk, target, bus, image } = attachment;
  const id = diskId(disk.name);
  const common: Properties = {
    ...(image ? { drive: nodeName(disk.name) } : {}),
    ...(bootindex === undefined ? {} : { bootindex }),
    ...(disk.serial === undefined ? {} : { serial: disk.serial }),
    ...(disk.shareable ? { 'share-rw': true } : {}),
  };
  switch (bus) {
    case 'virtio':
      return virtioDisk(context, attachment, id, { ...common, ...backend(attachment) });
    case 'scsi': {
      const place = { bus: `${scsiController}.0`, channel: 0, 'scsi-id': 0, lun: units.scsi++ };
      return scsiDisk(attachment, id, { ...place, ...common });
    }
    case 'sata': {
      refuseLun(attachment);
      if (target === 'disk' && isReadOnly(attachment)) {
        const why = 'a SATA disk cannot be read-only; use bus virtio or scsi, or a cdrom';
        throw wrongBus(attachment, why);
      }
      const driver = target === 'cdrom' ? 'ide-cd' : 'ide-hd';
      return device(driver, id, given, { bus: sataPort(units.sata++), ...common, ...backend(attachment) });
    }
    case 'usb': {
      refuseLun(attachment);
      if (target === 'cdrom') throw wrongBus(attachment, 'a CD-ROM cannot be on bus usb');
      const place = { bus: `${usbController}.0`, removable: false };
      return device('usb-storage', id, given, { ...place, ...common, ...backend(attachment) });
    }
    default: {
      const path = `spec.domain.devices.disks[${attachment.index}].${target}.bus`;
      throw failure('UnsupportedField', path, `${bus} is not one of virtio, scsi, sata, usb`);
    }
  }
}

function sataPort(unit: number): string {
  const controller = Math.floor(unit / sataPorts);
  const port = unit % sataPorts;
  return controller === 0 ? `ide.${port}` : `ahci${controller}.${port}`;
}

function virtioDisk(
  context: MachineContext,
  attachment: Attachment,
  id: string,
  properties: Properties,
): DevicePart {
  if (attachment.target !== 'disk') throw wrongBus(attachment, 'only a disk can be on bus virtio');
  const { disk, index, ioThread } = attachment;
  const { domain } = context.vmi.spec;
  const address = disk.disk?.pciAddress;
  const where =
    address === undefined
      ? 'disk'
      : pciAddress(`spec.domain.devices.disks[${index}].disk.pciAddress`, address);
  return virtioDevice(context, 'blk', id, where, {
    ...properties,
    ...(domain.devices.blockMultiQueue ? { 'num-queues': vcpus(topology(domain)) } : {}),
    ...(ioThread === undefined ? {} : { iothread: ioThreadId(ioThread) }),
  });
}

function scsiDisk(attachment: Attachment, id: string, properties: Properties): DevicePart {
  const { target, image, index } = attachment;
  if (target !== 'lun') {
    const driver = target === 'cdrom' ? 'scsi-cd' : 'scsi-hd';
    return device(driver, id, given, { ...properties, ...backend(attachment) });
  }
  const path = `spec.domain.devices.disks[${index}]`;
  if (image?.file.storage !== 'block')
    throw failure('InvalidField', `${path}.lun`, 'a LUN needs a block volume');
  // SCSI commands go to the device itself, which has its own serial.
  const { serial, ...rest } = properties;
  if (serial !== undefined) throw failure('UnsupportedField', `${path}.serial`, 'a LUN shows its own serial');
  return device('scsi-block', id, given, { ...rest, ...errorPolicy(attachment) });
}

function backend(attachment: Attachment): Properties {
  const { disk, image } = attachment;
  const sizes = image?.blockSize ?? disk.blockSize?.custom;
  return {
    ...(image ? { 'write-cache': cacheMode(disk, image) === 'writethrough' ? 'off' : 'on' } : {}),
    ...(sizes?.logical === undefined ? {} : { logical_block_size: sizes.logical }),
    ...(sizes?.physical === undefined ? {} : { physical_block_size: sizes.physical }),
    ...(sizes?.discardGranularity === undefined ? {} : { discard_granularity: sizes.discardGranularity }),
    ...errorPolicy(attachment),
  };
}

function errorPolicy({ disk, index, target }: Attachment): Properties {
  if (target === 'cdrom') return {};
  const policy = disk.errorPolicy ?? 'stop';
  switch (policy) {
    case 'stop':
    case 'ignore':
    case 'report':
      return { werror: policy, rerror: policy };
    case 'enospace':
      return { werror: 'enospc', rerror: 'report' };
    default: {
      const path = `spec.domain.devices.disks[${index}].errorPolicy`;
      throw failure('InvalidField', path, `${policy} is not one of stop, ignore, report, enospace`);
    }
  }
}

function refuseLun(attachment: Attachment): void {
  if (attachment.target === 'lun') throw wrongBus(attachment, 'a LUN can only be on bus scsi');
}

function wrongBus({ index, target }: Attachment, why: string) {
  return failure('InvalidField', `spec.domain.devices.disks[${index}].${target}.bus`, why);
}
