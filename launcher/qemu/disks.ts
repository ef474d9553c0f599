import type { Disk } from '../../openapi/generated/types/kubevirt_v1.js';
import type { DiskImage } from '../disks/image.js';
import { failure } from '../errors.js';
import { blockNodes, cacheMode, nodeName } from './blockdev.js';
import { usbController } from './devices.js';
import {
  conventional,
  device,
  given,
  object,
  virtioDevice,
  type DevicePart,
  type MachineContext,
  type Part,
  type Properties,
} from './model.js';

/** Ports of the AHCI controller that is part of q35; each further controller has as many. */
const sataPorts = 6;
const scsiController = 'scsi0';
const defaultBus = 'sata';

type Target = 'disk' | 'cdrom' | 'lun';

interface Attachment {
  readonly disk: Disk;
  readonly index: number;
  readonly target: Target;
  readonly bus: string;
  readonly image: DiskImage;
}

/** Volumes that are no disks. */
const notDisks = ['memoryDump', 'downwardMetrics', 'containerPath'] as const;

/** The disks of a VMI: those it lists, then one for each volume that no disk names. */
export function disksOf({ spec }: MachineContext['vmi']): readonly Disk[] {
  const listed = spec.domain.devices.disks ?? [];
  const names = new Set(listed.map(({ name }) => name));
  const filesystems = new Set((spec.domain.devices.filesystems ?? []).map(({ name }) => name));
  const unlisted = (spec.volumes ?? []).filter(
    (volume) =>
      !names.has(volume.name) &&
      !filesystems.has(volume.name) &&
      !notDisks.some((kind) => volume[kind] !== undefined),
  );
  return [...listed, ...unlisted.map(({ name }): Disk => ({ name, disk: { bus: defaultBus } }))];
}

export function diskParts(context: MachineContext): Part[] {
  const attachments = disksOf(context.vmi).map((disk, index) => attach(context, disk, index));
  const bootIndexes = bootOrder(context, attachments);
  const units = { sata: 0, scsi: 0 };
  const parts: Part[] = [];
  for (const attachment of attachments) {
    const { disk } = attachment;
    if (disk.dedicatedIOThread && attachment.bus === 'virtio') parts.push(object('iothread', threadId(disk)));
    parts.push({ part: 'blockdev', properties: blockNodes(disk, attachment.image, isReadOnly(attachment)) });
    parts.push(frontend(context, attachment, units, bootIndexes.get(disk.name)));
  }
  return [...controllers(context, attachments), ...parts];
}

function attach({ images }: MachineContext, disk: Disk, index: number): Attachment {
  const image = images.get(disk.name);
  if (!image) {
    throw failure(
      'InvalidField',
      `spec.domain.devices.disks[${index}].name`,
      `no volume is named ${disk.name}`,
    );
  }
  if (disk.lun) return { disk, index, image, target: 'lun', bus: disk.lun.bus ?? 'scsi' };
  if (disk.cdrom) return { disk, index, image, target: 'cdrom', bus: disk.cdrom.bus ?? defaultBus };
  return { disk, index, image, target: 'disk', bus: disk.disk?.bus ?? defaultBus };
}

function isReadOnly({ target, image, disk }: Attachment): boolean {
  return target === 'cdrom' || image.readOnly || (disk.disk?.readonly ?? disk.lun?.readonly ?? false);
}

/** Boot order as the spec gives it; where nothing has one, the machine boots from its first disk. */
function bootOrder({ vmi }: MachineContext, attachments: readonly Attachment[]): Map<string, number> {
  const indexes = new Map<string, number>();
  for (const { disk } of attachments)
    if (disk.bootOrder !== undefined) indexes.set(disk.name, disk.bootOrder);
  const nics = vmi.spec.domain.devices.interfaces ?? [];
  if (indexes.size > 0 || nics.some(({ bootOrder: order }) => order !== undefined)) return indexes;
  const first = attachments.find(({ target }) => target !== 'cdrom') ?? attachments[0];
  if (first) indexes.set(first.disk.name, 1);
  return indexes;
}

function controllers(context: MachineContext, attachments: readonly Attachment[]): Part[] {
  const uses = (bus: string) => attachments.filter((attachment) => attachment.bus === bus).length;
  const parts: Part[] = [];
  // Hot-plugged volumes are SCSI disks, so their controller is there from the start.
  if (uses('scsi') > 0 || !context.vmi.spec.domain.devices.disableHotplug) {
    parts.push(virtioDevice(context, 'scsi', scsiController, 'controller'));
  }
  for (let more = 1; more * sataPorts < uses('sata'); more++) {
    parts.push(device('ich9-ahci', `ahci${more}`, conventional('controller')));
  }
  return parts;
}

function frontend(
  context: MachineContext,
  attachment: Attachment,
  units: { sata: number; scsi: number },
  bootindex: number | undefined,
): DevicePart {
  const { disk, target, bus, index } = attachment;
  const id = `disk-${disk.name}`;
  const common: Properties = {
    drive: nodeName(disk.name),
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
      const unit = units.sata++;
      const controller = Math.floor(unit / sataPorts);
      const port = unit % sataPorts;
      const place = { bus: controller === 0 ? `ide.${port}` : `ahci${controller}.${port}` };
      if (target === 'disk' && isReadOnly(attachment)) {
        throw unsupportedBus(
          attachment,
          'a SATA disk cannot be read-only; use bus virtio or scsi, or a cdrom',
        );
      }
      const driver = target === 'cdrom' ? 'ide-cd' : 'ide-hd';
      return device(driver, id, given, { ...place, ...common, ...backend(attachment) });
    }
    case 'usb': {
      refuseLun(attachment);
      if (target === 'cdrom') throw unsupportedBus(attachment, 'a CD-ROM cannot be on bus usb');
      const place = { bus: `${usbController}.0`, removable: false };
      return device('usb-storage', id, given, { ...place, ...common, ...backend(attachment) });
    }
    default:
      throw failure(
        'UnsupportedField',
        `spec.domain.devices.disks[${index}].${target}.bus`,
        `${bus} is not one of virtio, scsi, sata, usb`,
      );
  }
}

function virtioDisk(
  context: MachineContext,
  attachment: Attachment,
  id: string,
  properties: Properties,
): DevicePart {
  if (attachment.target !== 'disk') throw unsupportedBus(attachment, 'only a disk can be on bus virtio');
  const { disk } = attachment;
  return virtioDevice(context, 'blk', id, 'disk', {
    ...properties,
    ...(disk.dedicatedIOThread ? { iothread: threadId(disk) } : {}),
  });
}

function scsiDisk(attachment: Attachment, id: string, properties: Properties): DevicePart {
  const { target, image, index } = attachment;
  if (target !== 'lun') {
    return device(target === 'cdrom' ? 'scsi-cd' : 'scsi-hd', id, given, {
      ...properties,
      ...backend(attachment),
    });
  }
  if (image.file.storage !== 'block') {
    throw failure('InvalidField', `spec.domain.devices.disks[${index}].lun`, 'a LUN needs a block volume');
  }
  // SCSI commands go to the device itself, which has its own serial.
  const { serial, ...rest } = properties;
  if (serial !== undefined) {
    throw failure(
      'UnsupportedField',
      `spec.domain.devices.disks[${index}].serial`,
      'a LUN shows its own serial',
    );
  }
  return device('scsi-block', id, given, { ...rest, ...errorPolicy(attachment) });
}

function backend(attachment: Attachment): Properties {
  const { disk, image } = attachment;
  const custom = disk.blockSize?.custom;
  return {
    'write-cache': cacheMode(disk, image) === 'writethrough' ? 'off' : 'on',
    ...(custom?.logical === undefined ? {} : { logical_block_size: custom.logical }),
    ...(custom?.physical === undefined ? {} : { physical_block_size: custom.physical }),
    ...(custom?.discardGranularity === undefined ? {} : { discard_granularity: custom.discardGranularity }),
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
    default:
      throw failure(
        'InvalidField',
        `spec.domain.devices.disks[${index}].errorPolicy`,
        `${policy} is not one of stop, ignore, report, enospace`,
      );
  }
}

function refuseLun(attachment: Attachment): void {
  if (attachment.target === 'lun') throw unsupportedBus(attachment, 'a LUN can only be on bus scsi');
}

function unsupportedBus({ index, target }: Attachment, why: string) {
  return failure('InvalidField', `spec.domain.devices.disks[${index}].${target}.bus`, why);
}

function threadId({ name }: Disk): string {
  return `iothread-${name}`;
}
