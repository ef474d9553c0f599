/** Devices of the node that guests may have as their own: those that the cluster's configuration permits, found in sysfs. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type {
  MediatedHostDevice,
  PermittedHostDevices,
  USBHostDevice,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import { errorCode, isNotExist } from '../../files.js';
import type { DeviceSource } from './device-source.js';
import type { DeviceNode } from './protocol.js';

interface Found {
  /** As the launcher is told it: a PCI address, the UUID of a mediated device, `bus:device` of USB. */
  readonly address: string;
  readonly nodes: readonly string[];
}

/** Sources of all permitted devices that this agent is to offer. `sys` is /sys but for tests. */
export function hostDevices(
  { pciHostDevices = [], mediatedDevices = [], usb = [] }: PermittedHostDevices,
  sys = '/sys',
): DeviceSource[] {
  const pci = ours(pciHostDevices).map(({ resourceName, pciVendorSelector }) =>
    exclusive(resourceName, 'PCI_RESOURCE_', () => findPci(sys, pciVendorSelector)),
  );
  const mediated = ours(mediatedDevices).map((device) =>
    exclusive(device.resourceName, 'MDEV_PCI_RESOURCE_', () => findMediated(sys, device)),
  );
  const usbDevices = ours(usb).map((device) =>
    exclusive(device.resourceName, 'USB_RESOURCE_', () => findUsb(sys, device)),
  );
  return [...pci, ...mediated, ...usbDevices];
}

function ours<T extends { readonly externalResourceProvider?: boolean }>(devices: readonly T[]): T[] {
  return devices.filter(({ externalResourceProvider }) => externalResourceProvider !== true);
}

/** Each device is one container's alone; a variable tells the launcher which it has. */
function exclusive(resource: string, prefix: string, find: () => Promise<readonly Found[]>): DeviceSource {
  const variable = prefix + resource.toUpperCase().replace(/[^A-Z0-9]/g, '_');
  return {
    resource,
    list: async () => (await find()).map(({ address }) => ({ ID: address, health: 'Healthy' })),
    async allocate(ids) {
      const present = new Map((await find()).map((found) => [found.address, found.nodes]));
      const nodes = new Set<string>();
      for (const id of ids) {
        const found = present.get(id);
        if (found === undefined) throw new Error(`${resource} has no device "${id}" on this node`);
        for (const node of found) nodes.add(node);
      }
      return { envs: { [variable]: ids.join(',') }, devices: [...nodes].map(deviceNode) };
    },
  };
}

const deviceNode = (path: string): DeviceNode => ({
  container_path: path,
  host_path: path,
  permissions: 'mrw',
});

/** Functions that vfio-pci has: only those can be given away. */
async function findPci(sys: string, selector: string): Promise<Found[]> {
  const devices = join(sys, 'bus/pci/devices');
  const wanted = selector.toLowerCase();
  const found = await Promise.all(
    (await names(devices)).map(async (address) => {
      const place = join(devices, address);
      const [vendor, product] = await Promise.all([hex(join(place, 'vendor')), hex(join(place, 'device'))]);
      if (`${vendor}:${product}` !== wanted || (await target(join(place, 'driver'))) !== 'vfio-pci')
        return [];
      return vfio(address, await target(join(place, 'iommu_group')));
    }),
  );
  return found.flat();
}

/** Mediated devices that are there already, by the name of their type. */
async function findMediated(sys: string, { mdevNameSelector }: MediatedHostDevice): Promise<Found[]> {
  const devices = join(sys, 'bus/mdev/devices');
  const found = await Promise.all(
    (await names(devices)).map(async (uuid) => {
      const name = await text(join(devices, uuid, 'mdev_type/name'));
      if (name.replaceAll(' ', '_') !== mdevNameSelector.replaceAll(' ', '_')) return [];
      return vfio(uuid, await target(join(devices, uuid, 'iommu_group')));
    }),
  );
  return found.flat();
}

function vfio(address: string, group: string | undefined): Found[] {
  return group === undefined ? [] : [{ address, nodes: ['/dev/vfio/vfio', `/dev/vfio/${group}`] }];
}

async function findUsb(sys: string, { selectors = [] }: USBHostDevice): Promise<Found[]> {
  const devices = join(sys, 'bus/usb/devices');
  const wanted = new Set(selectors.map(({ vendor, product }) => `${number(vendor)}:${number(product)}`));
  const found = await Promise.all(
    (await names(devices)).map(async (name) => {
      const [vendor, product, bus, device] = await Promise.all(
        ['idVendor', 'idProduct', 'busnum', 'devnum'].map((field) => text(join(devices, name, field))),
      );
      if (!wanted.has(`${number(vendor)}:${number(product)}`) || !bus || !device) return [];
      const node = `/dev/bus/usb/${bus.padStart(3, '0')}/${device.padStart(3, '0')}`;
      return [{ address: `${bus}:${device}`, nodes: [node] }];
    }),
  );
  return found.flat();
}

/** Of hexadecimal digits, with or without `0x`. */
const number = (digits = ''): number => Number.parseInt(digits, 16);

async function hex(path: string): Promise<string> {
  return (await text(path)).replace(/^0x/, '').toLowerCase();
}

/** Sorted; none where this node has no such bus. */
async function names(directory: string): Promise<string[]> {
  try {
    return (await readdir(directory)).sort();
  } catch (error) {
    if (isNotExist(error)) return [];
    throw error;
  }
}

/** Empty for what is not there, or went away meanwhile. */
async function text(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (isNotExist(error) || errorCode(error) === 'ENODEV') return '';
    throw error;
  }
}

async function target(link: string): Promise<string | undefined> {
  try {
    return basename(await readlink(link));
  } catch (error) {
    if (isNotExist(error)) return undefined;
    throw error;
  }
}
