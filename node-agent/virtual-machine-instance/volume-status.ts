/** `status.volumeStatus`: the guest's name for each volume's disk. */
import type {
  Disk,
  VirtualMachineInstance,
  VolumeStatus,
} from '../../openapi/generated/types/kubevirt_v1.js';

function busOf({ disk, cdrom, lun }: Disk): string {
  return disk?.bus ?? cdrom?.bus ?? lun?.bus ?? (cdrom === undefined ? 'virtio' : 'sata');
}

/** 0 → `a`, 26 → `aa`, as Linux names disks. */
function letters(index: number): string {
  const letter = String.fromCharCode('a'.charCodeAt(0) + (index % 26));
  return index < 26 ? letter : letters(Math.floor(index / 26) - 1) + letter;
}

/** By disk name: `vda` for virtio, `sda` for the other buses, counted in the order of the spec. */
function targets({ spec }: VirtualMachineInstance): Map<string, string> {
  const counts = new Map<string, number>();
  return new Map(
    (spec.domain.devices.disks ?? []).map((disk) => {
      const prefix = busOf(disk) === 'virtio' ? 'vd' : 'sd';
      const count = counts.get(prefix) ?? 0;
      counts.set(prefix, count + 1);
      return [disk.name, `${prefix}${letters(count)}`];
    }),
  );
}

/** What others know of the volumes is kept. */
export function volumeStatus(vmi: VirtualMachineInstance): VolumeStatus[] {
  const before = new Map((vmi.status?.volumeStatus ?? []).map((status) => [status.name, status]));
  const names = targets(vmi);
  const present = (vmi.spec.volumes ?? []).map(({ name }) => ({
    ...before.get(name),
    name,
    target: names.get(name) ?? '',
  }));
  const others = [...before.values()].filter((status) => !present.some(({ name }) => name === status.name));
  return [...present, ...others];
}
