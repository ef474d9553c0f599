/** Volumes, disks, interfaces and inputs. */
import type {
  Disk,
  KubeVirtConfiguration,
  VirtualMachineInstanceSpec,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import { ApiError } from '../../../errors/api-error.js';
import { architectureDefaults } from './architecture.js';

/** As a kubelet does: an image named by a moving tag is pulled each time. */
export function setPullPolicies(spec: VirtualMachineInstanceSpec): void {
  for (const { containerDisk } of spec.volumes ?? []) {
    if (containerDisk === undefined || (containerDisk.imagePullPolicy ?? '') !== '') continue;
    const moving = containerDisk.image.endsWith(':latest') || !/[:@]/.test(containerDisk.image);
    containerDisk.imagePullPolicy = moving ? 'Always' : 'IfNotPresent';
  }
}

/** A volume that nothing attaches becomes a disk. */
export function addMissingDisks(spec: VirtualMachineInstanceSpec): void {
  const { devices } = spec.domain;
  const attached = new Set(
    [...(devices.disks ?? []), ...(devices.filesystems ?? [])].map((device) => device.name),
  );
  const missing = (spec.volumes ?? []).filter((volume) => !attached.has(volume.name));
  if (missing.length > 0)
    devices.disks = [...(devices.disks ?? []), ...missing.map(({ name }): Disk => ({ name }))];
}

export function setDiskTargets(spec: VirtualMachineInstanceSpec): void {
  const { diskBus } = architectureDefaults(spec.architecture);
  for (const disk of spec.domain.devices.disks ?? []) {
    if (disk.disk === undefined && disk.cdrom === undefined && disk.lun === undefined) disk.disk = {};
    for (const target of [disk.disk, disk.cdrom, disk.lun]) {
      if (target !== undefined && (target.bus ?? '') === '') target.bus = diskBus;
    }
    if (disk.cdrom !== undefined) {
      disk.cdrom.readonly ??= true;
      if ((disk.cdrom.tray ?? '') === '') disk.cdrom.tray = 'closed';
    }
    if (disk.blockSize?.matchVolume !== undefined) disk.blockSize.matchVolume.enabled ??= true;
  }
}

/** The pod network with the cluster's default binding, unless the guest names networks or wants none. */
export function setPodNetwork(spec: VirtualMachineInstanceSpec, configuration: KubeVirtConfiguration): void {
  const { devices } = spec.domain;
  if (devices.autoattachPodInterface === false) return;
  if ((spec.networks ?? []).length > 0 || (devices.interfaces ?? []).length > 0) return;
  const network = configuration.network;
  switch (network?.defaultNetworkInterface) {
    case 'bridge':
      if (network.permitBridgeInterfaceOnPodNetwork === false) {
        throw new ApiError(
          'BadRequest',
          'the default network interface is "bridge", which network.permitBridgeInterfaceOnPodNetwork of the KubeVirt configuration forbids: name an interface',
        );
      }
      devices.interfaces = [{ name: 'default', bridge: {} }];
      break;
    case 'slirp':
      throw new ApiError(
        'BadRequest',
        'the default network interface is "slirp", which is no longer served: set network.defaultNetworkInterface of the KubeVirt configuration to "masquerade" or "bridge"',
      );
    default:
      devices.interfaces = [{ name: 'default', masquerade: {} }];
  }
  spec.networks = [{ name: 'default', pod: {} }];
}

export function setInputs(spec: VirtualMachineInstanceSpec): void {
  for (const input of spec.domain.devices.inputs ?? []) {
    if ((input.bus ?? '') === '') input.bus = 'usb';
    if (input.type === '') input.type = 'tablet';
  }
  for (const gpu of spec.domain.devices.gpus ?? []) {
    const ramFb = gpu.virtualGPUOptions?.display?.ramFB;
    if (ramFb !== undefined) ramFb.enabled ??= true;
  }
}
