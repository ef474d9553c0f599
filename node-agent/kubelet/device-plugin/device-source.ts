/** Where a device plugin's devices come from. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { deviceResources } from '../../../openapi/launcher/pod.js';
import { isNotExist } from '../../files.js';
import type { ContainerAllocation, Device } from './protocol.js';

export interface DeviceSource {
  /** `devices.kubevirt.io/kvm`. */
  readonly resource: string;
  /** The same array as before where nothing has changed, if that is cheap. */
  list(): Promise<readonly Device[]>;
  /** What a container gets that has been given these devices. Throws for one that there is not. */
  allocate(ids: readonly string[]): Promise<ContainerAllocation>;
}

/**
 * A device of the kernel that any number of containers may open at once.
 * @param shares how many may, from now on
 */
export function sharedDevice(resource: string, path: string, shares: () => number): DeviceSource {
  const name = basename(path);
  // Made anew only for a change: they are asked for all the time.
  let devices: readonly Device[] = [];
  let health: Device['health'] | undefined;
  return {
    resource,
    async list() {
      const now = (await isCharacterDevice(path)) ? 'Healthy' : 'Unhealthy';
      const length = shares();
      if (now !== health || length !== devices.length)
        devices = Array.from({ length }, (_, index) => ({ ID: `${name}${index}`, health: now }));
      health = now;
      return devices;
    },
    allocate(wanted) {
      // A kubelet may not have heard yet that there are fewer.
      const strange = wanted.find((id) => !(id.startsWith(name) && /^\d+$/.test(id.slice(name.length))));
      if (strange !== undefined) throw new Error(`${resource} has no device "${strange}"`);
      return Promise.resolve({
        devices: [{ container_path: path, host_path: path, permissions: 'mrw' }],
      });
    },
  };
}

/**
 * @param shares how many containers may share each, from now on
 * @param dev where the node's devices are; another folder for tests
 */
export function kernelDevices(shares: () => number, dev = '/dev'): DeviceSource[] {
  return [
    sharedDevice(deviceResources.kvm, `${dev}/kvm`, shares),
    sharedDevice(deviceResources.tun, `${dev}/net/tun`, shares),
    sharedDevice(deviceResources.vhostNet, `${dev}/vhost-net`, shares),
  ];
}

async function isCharacterDevice(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isCharacterDevice();
  } catch (error) {
    if (isNotExist(error)) return false;
    throw error;
  }
}
