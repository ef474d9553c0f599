import type { Disk, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { failure } from '../errors.js';
import { blockNodes } from './blockdev.js';
import { sataPorts, scsiController } from './buses.js';
import { topology, vcpus } from './cpu.js';
import { frontend, isReadOnly, type Attachment } from './disk-devices.js';
import { ioThreadId, ioThreads } from './io-threads.js';
import {
  command,
  conventional,
  device,
  object,
  virtioDevice,
  type MachineContext,
  type Part,
  type Properties,
} from './model.js';

const defaultBus = 'sata';
/** Where the node keeps the socket of qemu-pr-helper, which sends persistent reservations to SCSI devices. */
const reservationSocket = '/var/run/kubevirt/daemons/pr/pr-helper.sock';
const reservationManager = 'pr0';

/** Volumes that are no disks. */
const notDisks = ['memoryDump', 'containerPath'] as const;

/** The disks of a VMI: those it lists, then one for each volume that nothing names. */
export function disksOf({ spec }: Pick<VirtualMachineInstance, 'spec'>): readonly Disk[] {
  const listed = spec.domain.devices.disks ?? [];
  const { slicNameRef, msdmNameRef } = spec.domain.firmware?.acpi ?? {};
  const named = new Set([
    ...listed.map(({ name }) => name),
    ...(spec.domain.devices.filesystems ?? []).map(({ name }) => name),
    slicNameRef,
    msdmNameRef,
  ]);
  const unnamed = (spec.volumes ?? []).filter(
    (volume) => !named.has(volume.name) && !notDisks.some((kind) => volume[kind] !== undefined),
  );
  return [...listed, ...unnamed.map(({ name }): Disk => ({ name, disk: { bus: defaultBus } }))];
}

export function diskParts(context: MachineContext): Part[] {
  const threads = ioThreads(context.vmi);
  const attachments = disksOf(context.vmi).map((disk, index) =>
    attach(context, disk, index, threads.disks.get(disk.name)),
  );
  const bootIndexes = bootOrder(context, attachments);
  const units = { sata: 0, scsi: 0 };
  const parts: Part[] = [];
  for (let thread = 1; thread <= threads.count; thread++) parts.push(object('iothread', ioThreadId(thread)));
  if (attachments.some(({ disk }) => disk.lun?.reservation)) {
    parts.push(object('pr-manager-helper', reservationManager, { path: reservationSocket }));
  }
  parts.push(...controllers(context, attachments, threads.scsiController));
  for (const attachment of attachments) {
    const { disk, image } = attachment;
    if (image) {
      const reservations = disk.lun?.reservation ? reservationManager : undefined;
      const nodes = blockNodes(disk, image, { readOnly: isReadOnly(attachment), reservations });
      parts.push({ part: 'blockdev', properties: nodes });
    }
    const made = frontend(context, attachment, units, bootIndexes.get(disk.name));
    parts.push(made);
    if (disk.cdrom?.tray === 'open') parts.push(command('blockdev-open-tray', { id: made.id, force: true }));
  }
  return parts;
}

function attach(
  { images }: MachineContext,
  disk: Disk,
  index: number,
  ioThread: number | undefined,
): Attachment {
  const image = images.get(disk.name);
  const common = { disk, index, image, ioThread };
  if (disk.cdrom) return { ...common, target: 'cdrom', bus: disk.cdrom.bus ?? defaultBus };
  if (!image) {
    const path = `spec.domain.devices.disks[${index}].name`;
    throw failure('InvalidField', path, `no volume is named ${disk.name}`);
  }
  if (disk.lun) return { ...common, target: 'lun', bus: disk.lun.bus ?? 'scsi' };
  return { ...common, target: 'disk', bus: disk.disk?.bus ?? defaultBus };
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

function controllers(
  context: MachineContext,
  attachments: readonly Attachment[],
  ioThread: number | undefined,
): Part[] {
  const uses = (bus: string) => attachments.filter((attachment) => attachment.bus === bus).length;
  const { domain } = context.vmi.spec;
  const parts: Part[] = [];
  // Hot-plugged volumes are SCSI disks, so their controller is there from the start.
  if (uses('scsi') > 0 || !domain.devices.disableHotplug) {
    const served: Properties =
      ioThread === undefined ? {} : { iothread: ioThreadId(ioThread), num_queues: vcpus(topology(domain)) };
    parts.push(virtioDevice(context, 'scsi', scsiController, 'controller', served));
  }
  for (let more = 1; more * sataPorts < uses('sata'); more++) {
    parts.push(device('ich9-ahci', `ahci${more}`, conventional('controller')));
  }
  return parts;
}
