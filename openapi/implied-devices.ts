/** Devices that a guest has though its spec names none. */
import type {
  Devices,
  Disk,
  Interface,
  NetworkConfiguration,
  VirtualMachineInstanceSpec,
} from './generated/types/kubevirt_v1.js';

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

/** The pointer that `autoattachInputDevice` asks for, its bus and type still open. */
export function addInput(devices: Devices): void {
  if (devices.autoattachInputDevice !== true || (devices.inputs ?? []).length > 0) return;
  devices.inputs = [{ name: 'default-0', type: '' }];
}

/** Unless the guest names networks, or wants none, it is on the pod's. */
export function wantsPodNetwork({ domain: { devices }, networks }: VirtualMachineInstanceSpec): boolean {
  if (devices.autoattachPodInterface === false) return false;
  return (networks ?? []).length === 0 && (devices.interfaces ?? []).length === 0;
}

/** Leaves the spec alone if the configured binding can not be used: admission then says why. */
export function addPodNetwork(
  spec: VirtualMachineInstanceSpec,
  network: NetworkConfiguration | undefined,
): void {
  const binding = wantsPodNetwork(spec) ? defaultBinding(network) : undefined;
  if (binding === undefined) return;
  spec.domain.devices.interfaces = [{ name: 'default', ...binding }];
  spec.networks = [{ name: 'default', pod: {} }];
}

/** How guests are attached to the pod network; undefined if the configuration asks for what it forbids or nobody has any more. */
export function defaultBinding(
  network: NetworkConfiguration | undefined,
): Pick<Interface, 'bridge' | 'masquerade'> | undefined {
  switch (network?.defaultNetworkInterface) {
    case 'bridge':
      return network.permitBridgeInterfaceOnPodNetwork === false ? undefined : { bridge: {} };
    case 'slirp':
      return undefined;
    default:
      return { masquerade: {} };
  }
}
