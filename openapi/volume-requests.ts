/** `status.volumeRequests` of a VM: what they make of its template. Admission and the VM controller share it. */
import type {
  AddVolumeOptions,
  VirtualMachineInstanceSpec,
  VirtualMachineVolumeRequest,
  Volume,
} from './generated/types/kubevirt_v1.js';

/** `spec` with the volumes and disks added and removed that it lacks, or has. Their order stays. */
export function withVolumeRequests(
  spec: VirtualMachineInstanceSpec,
  requests: readonly VirtualMachineVolumeRequest[],
): VirtualMachineInstanceSpec {
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
  const disks = new Map((spec.domain.devices.disks ?? []).map((disk) => [disk.name, disk]));
  for (const { addVolumeOptions: add, removeVolumeOptions: remove } of requests) {
    if (add !== undefined && !volumes.has(add.name)) {
      volumes.set(add.name, requestedVolume(add));
      disks.set(add.name, { ...add.disk, name: add.name });
    }
    if (remove !== undefined) {
      volumes.delete(remove.name);
      disks.delete(remove.name);
    }
  }
  const devices = { ...spec.domain.devices, disks: [...disks.values()] };
  return { ...spec, volumes: [...volumes.values()], domain: { ...spec.domain, devices } };
}

/** Whether the template shows it already. */
export function isCarriedOut(
  { addVolumeOptions: add, removeVolumeOptions: remove }: VirtualMachineVolumeRequest,
  spec: VirtualMachineInstanceSpec | undefined,
): boolean {
  const has = (wanted: string): boolean => spec?.volumes?.some(({ name }) => name === wanted) === true;
  return (add === undefined || has(add.name)) && (remove === undefined || !has(remove.name));
}

export function requestedVolume({ name, volumeSource }: AddVolumeOptions): Volume {
  const { persistentVolumeClaim, dataVolume } = volumeSource;
  return asPlugged({
    name,
    ...(persistentVolumeClaim === undefined
      ? { ...(dataVolume && { dataVolume }) }
      : { persistentVolumeClaim }),
  });
}

/** As a volume is after it was plugged: which one it is does not depend on that. */
export function asPlugged(volume: Volume): Volume {
  const { persistentVolumeClaim, dataVolume } = volume;
  if (persistentVolumeClaim !== undefined)
    return { ...volume, persistentVolumeClaim: { ...persistentVolumeClaim, hotpluggable: true } };
  if (dataVolume !== undefined) return { ...volume, dataVolume: { ...dataVolume, hotpluggable: true } };
  return volume;
}
