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

/** As many containers as this may share a device of the kernel. */
const shares = 1000;

/** A device of the kernel that any number of containers may open at once. */
export function sharedDevice(resource: string, path: string): DeviceSource {
  const name = basename(path);
  const ids = Array.from({ length: shares }, (_, index) => `${name}${index}`);
  // Made once: they are asked for all the time.
  const healthy = ids.map((ID): Device => ({ ID, health: 'Healthy' }));
  const unhealthy = ids.map((ID): Device => ({ ID, health: 'Unhealthy' }));
  const known = new Set(ids);
  return {
    resource,
    list: async () => ((await isCharacterDevice(path)) ? healthy : unhealthy),
    allocate(wanted) {
      const strange = wanted.find((id) => !known.has(id));
      if (strange !== undefined) throw new Error(`${resource} has no device "${strange}"`);
      return Promise.resolve({
        devices: [{ container_path: path, host_path: path, permissions: 'mrw' }],
      });
    },
  };
}

/** @param dev where the node's devices are; another folder for tests */
export function kernelDevices(dev = '/dev'): DeviceSource[] {
  return [
    sharedDevice(deviceResources.kvm, `${dev}/kvm`),
    sharedDevice(deviceResources.tun, `${dev}/net/tun`),
    sharedDevice(deviceResources.vhostNet, `${dev}/vhost-net`),
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
