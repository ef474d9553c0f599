/** Volumes of a running guest: those it started with stay, others come and go with their disks. */
import type {
  Disk,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
  Volume,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { sameJson } from '../../../registry/equal.js';
import { invalid, type FieldPath } from '../../causes.js';
import { featureEnabled } from '../../configuration/feature-gates.js';
import { hotplugDiskCauses } from '../hotplug-disk.js';
import type { UpdateRule } from './rule.js';

const byName = <T extends { readonly name: string }>(list: readonly T[] = []): ReadonlyMap<string, T> =>
  new Map(list.map((each) => [each.name, each]));

const volumesAt = (at: FieldPath): FieldPath => at.child('volumes');
const disksAt = (at: FieldPath): FieldPath => at.child('domain', 'devices', 'disks');

/** Volumes that the guest started with. The status names every volume once the guest runs. */
function permanentNames({ status }: VirtualMachineInstance): ReadonlySet<string> {
  return new Set(
    (status?.volumeStatus ?? [])
      .filter(({ hotplugVolume }) => hotplugVolume === undefined)
      .map(({ name }) => name),
  );
}

/** A volume whose content moves to another claim changes its source meanwhile. */
function migratedNames({ status }: VirtualMachineInstance): ReadonlySet<string> {
  return new Set((status?.migratedVolumes ?? []).map(({ volumeName }) => volumeName));
}

function storageChanged(spec: VirtualMachineInstanceSpec, old: VirtualMachineInstanceSpec): boolean {
  const storage = ({ volumes, domain }: VirtualMachineInstanceSpec): unknown => [
    volumes,
    domain.devices.disks,
    domain.devices.filesystems,
  ];
  return !sameJson(storage(spec), storage(old));
}

/** Each volume has one device and each device its volume, but for an empty CD-ROM drive. */
export const volumesAndDevices: UpdateRule = ({ vmi: { spec }, old, at, configuration }) => {
  if (!storageChanged(spec, old.spec)) return [];
  const volumes = (spec.volumes ?? []).filter(({ memoryDump }) => memoryDump === undefined);
  const named = byName(volumes);
  const { disks = [], filesystems = [] } = spec.domain.devices;
  const mayBeEmpty = featureEnabled(configuration, 'DeclarativeHotplugVolumes');
  const causes: StatusCause[] = [];
  const uses = new Map<string, number>();
  for (const [kind, devices] of Object.entries({ disks, filesystems })) {
    for (const [index, device] of devices.entries()) {
      uses.set(device.name, (uses.get(device.name) ?? 0) + 1);
      const empty = mayBeEmpty && 'cdrom' in device && device.cdrom !== undefined;
      if (named.has(device.name) || empty) continue;
      causes.push(
        invalid(
          at.child('domain', 'devices', kind).index(index).child('name'),
          `no volume is named ${JSON.stringify(device.name)}`,
        ),
      );
    }
  }
  for (const [index, { name, memoryDump }] of (spec.volumes ?? []).entries()) {
    const count = uses.get(name) ?? 0;
    if (count === 1 || memoryDump !== undefined) continue;
    causes.push(
      invalid(
        volumesAt(at).index(index).child('name'),
        count === 0
          ? `no disk or filesystem is named ${JSON.stringify(name)}`
          : `${count} devices are named ${JSON.stringify(name)}: a volume has one`,
      ),
    );
  }
  return causes;
};

export const permanentVolumes: UpdateRule = ({ vmi, old, at }) => {
  if (!storageChanged(vmi.spec, old.spec)) return [];
  const permanent = permanentNames(old);
  const migrated = migratedNames(vmi);
  const [volumes, before] = [byName(vmi.spec.volumes), byName(old.spec.volumes)];
  const [disks, disksBefore] = [byName(vmi.spec.domain.devices.disks), byName(old.spec.domain.devices.disks)];
  const causes = [...before.keys()]
    .filter((name) => permanent.has(name) && !volumes.has(name))
    .map((name) =>
      invalid(volumesAt(at), `volume ${JSON.stringify(name)} must stay: the guest started with it`),
    );
  for (const [index, volume] of (vmi.spec.volumes ?? []).entries()) {
    const { name } = volume;
    if (!permanent.has(name) || migrated.has(name)) continue;
    if (!sameJson(volume, before.get(name))) {
      causes.push(
        invalid(volumesAt(at).index(index), `must stay as it was: the guest started with volume ${name}`),
      );
    }
    if (!sameJson(disks.get(name), disksBefore.get(name))) {
      causes.push(invalid(disksAt(at), `disk ${name} must stay as it was: the guest started with it`));
    }
  }
  return causes;
};

export const hotpluggedVolumes: UpdateRule = ({ vmi, old, at }) => {
  if (!storageChanged(vmi.spec, old.spec)) return [];
  const permanent = permanentNames(old);
  const before = byName(old.spec.volumes);
  const disks = vmi.spec.domain.devices.disks ?? [];
  const disksBefore = byName(old.spec.domain.devices.disks);
  const filesystems = byName(vmi.spec.domain.devices.filesystems);
  return (vmi.spec.volumes ?? []).flatMap((volume, index) => {
    if (permanent.has(volume.name)) return [];
    const place = volumesAt(at).index(index);
    const known = before.get(volume.name);
    const causes = known === undefined ? newVolume(volume, place) : changed(volume, known, vmi, place);
    if (volume.memoryDump !== undefined) return causes;
    const position = disks.findIndex(({ name }) => name === volume.name);
    const disk = disks[position];
    // That it has no device at all, another rule says.
    if (disk === undefined) return filesystems.has(volume.name) ? [...causes, notShared(place)] : causes;
    const diskPlace = disksAt(at).index(position);
    return [...causes, ...diskCauses(disk, disksBefore.get(disk.name), known !== undefined, diskPlace)];
  });
};

const notShared = (place: FieldPath): StatusCause =>
  invalid(place.child('name'), 'a volume that is added to a running guest is a disk, not a filesystem');

function newVolume(volume: Volume, place: FieldPath): StatusCause[] {
  const { dataVolume, persistentVolumeClaim, memoryDump } = volume;
  if ([dataVolume, persistentVolumeClaim, memoryDump].some((source) => source !== undefined)) return [];
  return [
    invalid(place, 'only a persistentVolumeClaim, dataVolume or memoryDump can be added to a running guest'),
  ];
}

function changed(volume: Volume, old: Volume, vmi: VirtualMachineInstance, place: FieldPath): StatusCause[] {
  if (sameJson(volume, old) || migratedNames(vmi).has(volume.name)) return [];
  return [invalid(place, `volume ${volume.name} can be removed and added anew, but not changed`)];
}

/** An empty CD-ROM drive is there before its volume: then the drive stays, and nothing is asked of it. */
function diskCauses(
  disk: Disk,
  old: Disk | undefined,
  volumeWasThere: boolean,
  place: FieldPath,
): StatusCause[] {
  if (volumeWasThere) {
    return sameJson(disk, old)
      ? []
      : [invalid(place, `disk ${disk.name} can be removed and added anew, but not changed`)];
  }
  return old === undefined ? hotplugDiskCauses(disk, place) : [];
}
