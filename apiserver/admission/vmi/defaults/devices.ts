/** Volumes, disks, interfaces and inputs. */
import type {
  KubeVirtConfiguration,
  VirtualMachineInstanceSpec,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import { addPodNetwork, defaultBinding, wantsPodNetwork } from '../../../../openapi/implied-devices.js';
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
export function setPodNetwork(spec: VirtualMachineInstanceSpec, { network }: KubeVirtConfiguration): void {
  if (wantsPodNetwork(spec) && defaultBinding(network) === undefined) {
    throw new ApiError(
      'BadRequest',
      network?.defaultNetworkInterface === 'bridge'
        ? 'the default network interface is "bridge", which network.permitBridgeInterfaceOnPodNetwork of the KubeVirt configuration forbids: name an interface'
        : 'the default network interface is "slirp", which is no longer served: set network.defaultNetworkInterface of the KubeVirt configuration to "masquerade" or "bridge"',
    );
  }
  addPodNetwork(spec, network);
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
