import type { GPU, HostDevice } from '../../openapi/generated/types/kubevirt_v1.js';
import { failure } from '../errors.js';
import { usbController } from './buses.js';
import { device, express, given, type MachineContext, type Part, type Properties } from './model.js';

/**
 * Devices of the node that are the guest's: PCI functions, mediated devices, USB devices. The spec names a resource; which
 * device of it the pod has is told by a device plugin, in a variable of the pod.
 */
export function hostDeviceParts(context: MachineContext): Part[] {
  const { hostDevices = [], gpus = [] } = context.vmi.spec.domain.devices;
  const allocated = new Allocations(context.host.environment);
  return [
    ...gpus.map((gpu, index) => gpuPart(gpu, allocated, `spec.domain.devices.gpus[${index}]`)),
    ...hostDevices.map((entry, index) =>
      hostDevicePart(entry, allocated, `spec.domain.devices.hostDevices[${index}]`),
    ),
  ];
}

type Kind = 'pci' | 'mediated' | 'usb';

const prefixes: Readonly<Record<Kind, string>> = {
  pci: 'PCI_RESOURCE_',
  mediated: 'MDEV_PCI_RESOURCE_',
  usb: 'USB_RESOURCE_',
};

const addressPatterns: Readonly<Record<Kind, RegExp>> = {
  pci: /^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/i,
  mediated: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  usb: /^\d+:\d+$/,
};

interface Allocated {
  readonly kind: Kind;
  readonly address: string;
}

/** What the device plugins have given to the pod; each device goes to one entry of the spec. */
class Allocations {
  private readonly taken = new Map<string, number>();

  constructor(private readonly environment: Readonly<Record<string, string | undefined>>) {}

  take(resource: string, kinds: readonly Kind[], path: string): Allocated {
    const suffix = resource.toUpperCase().replace(/[^A-Z0-9]/g, '_');
    for (const kind of kinds) {
      const variable = prefixes[kind] + suffix;
      const addresses = (this.environment[variable] ?? '').split(',').filter((word) => word !== '');
      const next = this.taken.get(variable) ?? 0;
      const address = addresses[next];
      if (address === undefined) continue;
      this.taken.set(variable, next + 1);
      if (addressPatterns[kind].test(address)) return { kind, address };
      throw failure('UnsupportedField', path, `${variable} holds ${address}, which is no ${kind} address`);
    }
    const names = kinds.map((kind) => prefixes[kind] + suffix).join(' or ');
    throw failure(
      'UnsupportedField',
      path,
      `no device plugin has given the pod a device of ${resource} (${names})`,
    );
  }
}

function gpuPart({ name, deviceName, virtualGPUOptions }: GPU, allocated: Allocations, path: string): Part {
  const found = allocated.take(resource(deviceName, path), ['mediated', 'pci'], path);
  const id = `gpu-${name}`;
  if (found.kind === 'pci') return vfio(id, found);
  const display = virtualGPUOptions?.display;
  if (display === undefined || display.enabled === false) return vfio(id, found);
  return (display.ramFB?.enabled ?? true)
    ? vfio(id, found, { display: 'on', ramfb: true })
    : vfio(id, found, { display: 'on' });
}

function hostDevicePart({ name, deviceName }: HostDevice, allocated: Allocations, path: string): Part {
  const found = allocated.take(resource(deviceName, path), ['pci', 'mediated', 'usb'], path);
  const id = `hostdevice-${name}`;
  if (found.kind !== 'usb') return vfio(id, found);
  const [bus = '', number = ''] = found.address.split(':').map((word) => word.padStart(3, '0'));
  return device('usb-host', id, given, {
    bus: `${usbController}.0`,
    hostdevice: `/dev/bus/usb/${bus}/${number}`,
  });
}

function resource(deviceName: string | undefined, path: string): string {
  if (deviceName) return deviceName;
  const why = 'devices by resource claim need a cluster that allocates them; name a deviceName';
  throw failure('UnsupportedField', path, why);
}

function vfio(id: string, { kind, address }: Allocated, properties: Properties = {}): Part {
  // Only the variant that cannot be unplugged has a frame buffer for the firmware.
  const driver = properties['ramfb'] ? 'vfio-pci-nohotplug' : 'vfio-pci';
  const source: Properties =
    kind === 'pci' ? { host: address } : { sysfsdev: `/sys/bus/mdev/devices/${address}` };
  return device(driver, id, express('host'), { ...source, ...properties });
}

/** Whether the pod's device plugins give USB devices to this machine, which then needs a controller. */
export function hasUsbHostDevices({ vmi, host }: MachineContext): boolean {
  return (vmi.spec.domain.devices.hostDevices ?? []).some(({ deviceName = '' }) => {
    const variable = prefixes.usb + deviceName.toUpperCase().replace(/[^A-Z0-9]/g, '_');
    return host.environment[variable] !== undefined;
  });
}

/** The addresses of the virtual functions that the pod has for a network, by the variables of the SR-IOV device plugin. */
export function virtualFunction(
  environment: Readonly<Record<string, string | undefined>>,
  network: string,
): string | undefined {
  const name = environment[`KUBEVIRT_RESOURCE_NAME_${network}`];
  if (name === undefined) return undefined;
  const variable = `PCIDEVICE_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
  const address = environment[variable]?.split(',')[0];
  return address !== undefined && addressPatterns.pci.test(address) ? address : undefined;
}
