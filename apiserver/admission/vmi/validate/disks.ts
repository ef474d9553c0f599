/** Disks: targets, buses, boot order, identities, modes, block sizes, and that each has its volume. */
import type { Disk } from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { dnsLabelFaults } from '../../../../openapi/names.js';
import { invalid, notSupported, required, unknownWord, type FieldPath } from '../../causes.js';
import { featureEnabled } from '../../configuration/feature-gates.js';
import { isPciAddress } from './pci-address.js';
import type { SpecRule } from './rule.js';

const buses = ['virtio', 'scsi', 'sata', 'usb'];
const cacheModes = ['none', 'writethrough', 'writeback'];
const ioModes = ['native', 'threads'];
const errorPolicies = ['stop', 'ignore', 'report', 'enospace'];
const longestSerial = 256;
const [leastBlock, mostBlock] = [512, 2 * 1024 * 1024];

type Target = 'disk' | 'lun' | 'cdrom';
const targetsOf = (disk: Disk): Target[] =>
  (['disk', 'lun', 'cdrom'] as const).filter((name) => disk[name] !== undefined);

export const disks: SpecRule = ({ spec, at }) => {
  const all = spec.domain.devices.disks ?? [];
  const field = at.child('domain', 'devices', 'disks');
  return all.flatMap((disk, index) => {
    const place = field.index(index);
    const causes: StatusCause[] = [];
    const other = all.findIndex((each) => each.name === disk.name);
    if (other < index)
      causes.push(
        invalid(place.child('name'), `disk ${other} has the name ${JSON.stringify(disk.name)} already`),
      );
    // The name becomes a container's name.
    for (const fault of dnsLabelFaults(disk.name)) causes.push(invalid(place.child('name'), fault));
    if (targetsOf(disk).length > 1) causes.push(invalid(place, 'disk, lun and cdrom exclude each other'));
    if (disk.bootOrder !== undefined && disk.bootOrder < 1) {
      causes.push(invalid(place.child('bootOrder'), `${disk.bootOrder} must be at least 1`));
    }
    return [
      ...causes,
      ...bus(disk, place),
      ...pciAddress(disk, place),
      ...words(disk, place),
      ...blockSize(disk, place),
    ];
  });
};

function bus(disk: Disk, place: FieldPath): StatusCause[] {
  const [target] = targetsOf(disk);
  const name = target === undefined ? '' : (disk[target]?.bus ?? '');
  if (target === undefined || name === '') return [];
  const field = place.child(target, 'bus');
  const causes: StatusCause[] = [];
  if (!buses.includes(name)) causes.push(invalid(field, unknownWord(name, buses)));
  else if (name === 'virtio' && target === 'cdrom')
    causes.push(invalid(field, 'a CD-ROM drive can be on sata, scsi or usb, not virtio'));
  else if (name === 'sata' && disk.disk?.readonly === true)
    causes.push(invalid(field, 'a sata disk can not be read-only: use virtio or scsi, or a cdrom'));
  if (disk.dedicatedIOThread === true && name !== 'virtio') {
    causes.push(notSupported(place, `dedicatedIOThread works on the virtio bus only, not on ${name}`));
  }
  return causes;
}

function pciAddress(disk: Disk, place: FieldPath): StatusCause[] {
  const address = disk.disk?.pciAddress ?? '';
  if (address === '') return [];
  const field = place.child('disk', 'pciAddress');
  const causes: StatusCause[] = [];
  if (disk.disk?.bus !== 'virtio')
    causes.push(invalid(field, 'only a disk on the virtio bus has a PCI address'));
  if (!isPciAddress(address))
    causes.push(invalid(field, `${JSON.stringify(address)} is no PCI address such as 0000:81:01.0`));
  return causes;
}

function words({ serial = '', cache = '', io = '', errorPolicy }: Disk, place: FieldPath): StatusCause[] {
  const causes: StatusCause[] = [];
  if (serial !== '' && !/^[A-Za-z0-9_.+-]+$/.test(serial)) {
    causes.push(
      invalid(place.child('serial'), `${JSON.stringify(serial)} may hold only letters, digits and _ . + -`),
    );
  }
  if (Array.from(serial).length > longestSerial)
    causes.push(invalid(place.child('serial'), `is longer than ${longestSerial} characters`));
  if (cache !== '' && !cacheModes.includes(cache))
    causes.push(invalid(place.child('cache'), unknownWord(cache, cacheModes)));
  if (io !== '' && !ioModes.includes(io))
    causes.push(notSupported(place.child('io'), unknownWord(io, ioModes)));
  if (errorPolicy !== undefined && !errorPolicies.includes(errorPolicy)) {
    causes.push(invalid(place.child('errorPolicy'), unknownWord(errorPolicy, errorPolicies)));
  }
  return causes;
}

function blockSize(disk: Disk, place: FieldPath): StatusCause[] {
  const custom = disk.blockSize?.custom;
  if (custom === undefined) return [];
  const field = place.child('blockSize');
  const { matchVolume } = disk.blockSize ?? {};
  if (matchVolume !== undefined && matchVolume.enabled !== false) {
    return [invalid(field, 'matchVolume and custom exclude each other')];
  }
  const { logical = 0, physical = 0, discardGranularity } = custom;
  const [target] = targetsOf(disk);
  if (logical > physical)
    return [
      invalid(field.child('custom', 'logical'), `${logical} is greater than the physical size, ${physical}`),
    ];
  if (target !== undefined && disk[target]?.bus === 'sata' && logical !== leastBlock) {
    return [invalid(field.child('custom', 'logical'), `must be ${leastBlock} on the sata bus`)];
  }
  if (
    discardGranularity !== undefined &&
    (discardGranularity < 0 || (logical !== 0 && discardGranularity % logical !== 0))
  ) {
    return [
      invalid(
        field.child('custom', 'discardGranularity'),
        `${discardGranularity} is not a multiple of the logical size, ${logical}`,
      ),
    ];
  }
  return [
    ...size(logical, field.child('custom', 'logical')),
    ...size(physical, field.child('custom', 'physical')),
  ];
}

function size(bytes: number, field: FieldPath): StatusCause[] {
  const isPowerOfTwo = (bytes & (bytes - 1)) === 0;
  if (bytes >= leastBlock && bytes <= mostBlock && isPowerOfTwo) return [];
  return [invalid(field, `${bytes} must be a power of two from ${leastBlock} to ${mostBlock}`)];
}

/** Disks against their volumes, and boot orders over disks and interfaces together. */
export const diskVolumes: SpecRule = ({ spec, at, configuration }) => {
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
  const { disks: all = [], interfaces = [] } = spec.domain.devices;
  const field = at.child('domain', 'devices', 'disks');
  const causes: StatusCause[] = [];
  const orders = new Set<number>();
  const order = (value: number | undefined, place: FieldPath): void => {
    if (value === undefined) return;
    if (orders.has(value)) causes.push(invalid(place, `another device has boot order ${value}`));
    orders.add(value);
  };
  for (const [index, disk] of all.entries()) {
    const place = field.index(index);
    const volume = volumes.get(disk.name);
    if (volume === undefined && disk.cdrom === undefined) {
      causes.push(invalid(place.child('name'), `no volume is named ${JSON.stringify(disk.name)}`));
    } else if (volume === undefined && !featureEnabled(configuration, 'DeclarativeHotplugVolumes')) {
      causes.push(
        invalid(
          place.child('name'),
          'an empty CD-ROM drive needs the feature gate DeclarativeHotplugVolumes',
        ),
      );
    }
    if (
      disk.lun !== undefined &&
      volume !== undefined &&
      volume.persistentVolumeClaim === undefined &&
      volume.dataVolume === undefined
    ) {
      causes.push(
        invalid(place.child('lun'), 'a lun needs a persistentVolumeClaim or dataVolume as its volume'),
      );
    }
    if (volume?.downwardMetrics !== undefined) {
      if (disk.disk === undefined)
        causes.push(required(place.child('disk'), 'a downwardMetrics volume is a disk'));
      else if (!['virtio', ''].includes(disk.disk.bus ?? '')) {
        causes.push(invalid(place.child('disk', 'bus'), 'a downwardMetrics volume is on the virtio bus'));
      }
    }
    order(disk.bootOrder, place.child('bootOrder'));
  }
  for (const [index, each] of interfaces.entries()) {
    const place = at.child('domain', 'devices', 'interfaces').index(index).child('bootOrder');
    if (each.bootOrder !== undefined && each.bootOrder < 1)
      causes.push(invalid(place, `${each.bootOrder} must be at least 1`));
    else order(each.bootOrder, place);
  }
  return causes;
};

export const persistentReservation: SpecRule = ({ spec, at, configuration }) => {
  const reserved = (spec.domain.devices.disks ?? []).some((disk) => disk.lun?.reservation === true);
  // Once it was a feature gate, which still counts where the configuration says nothing else.
  const allowed =
    configuration.persistentReservationConfiguration?.enabled ??
    configuration.developerConfiguration?.featureGates?.includes('PersistentReservation') ??
    false;
  if (!reserved || allowed) return [];
  return [
    invalid(
      at.child('domain', 'devices', 'disks', 'luns', 'reservation'),
      'needs persistentReservationConfiguration.enabled: true in the KubeVirt configuration',
    ),
  ];
};
