import { failure } from '../errors.js';
import { device, pciGroups, type DevicePart, type Part, type Properties } from './model.js';

export interface CommandLine {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const firstPortSlot = 0x2;
const lastPortSlot = 0x1e;
const functionsPerSlot = 8;
const bridgeId = 'pci.bridge';

/** Places the PCI devices and renders all parts as arguments, in the order that QEMU needs them. */
export function assemble(parts: readonly Part[]): CommandLine {
  const devices = placeDevices(parts.filter((part) => part.part === 'device'));
  const argv = [...machineArguments(parts), ...cpuArguments(parts)];
  const environment: Record<string, string> = {};
  for (const part of parts) {
    switch (part.part) {
      case 'object':
        argv.push('-object', JSON.stringify({ 'qom-type': part.type, id: part.id, ...part.properties }));
        break;
      case 'blockdev':
        argv.push('-blockdev', JSON.stringify(part.properties));
        break;
      case 'option':
        argv.push(`-${part.name}`, ...(part.value === undefined ? [] : [part.value]));
        break;
      case 'environment':
        environment[part.name] = part.value;
        break;
      case 'device':
      case 'machine':
      case 'cpuModel':
      case 'cpuProperty':
        break;
    }
  }
  for (const { driver, id, properties } of devices) {
    argv.push('-device', JSON.stringify({ driver, id, ...properties }));
  }
  return { argv, environment };
}

function machineArguments(parts: readonly Part[]): string[] {
  const properties = new Map<string, string>();
  for (const part of parts) if (part.part === 'machine') properties.set(part.name, part.value);
  return ['-machine', [...properties].map(([name, value]) => `${name}=${value}`).join(',')];
}

function cpuArguments(parts: readonly Part[]): string[] {
  const words: string[] = [];
  for (const part of parts) if (part.part === 'cpuModel') words.push(part.model);
  for (const part of parts) if (part.part === 'cpuProperty') words.push(`${part.name}=${part.value}`);
  return ['-cpu', words.join(',')];
}

/** Devices with their bus and address, the bridges they need in front. */
function placeDevices(devices: readonly DevicePart[]): DevicePart[] {
  const conventional = devices.filter(({ place }) => place.kind === 'conventional');
  const all =
    conventional.length === 0
      ? devices
      : [...devices, device('pcie-pci-bridge', bridgeId, { kind: 'express', group: 'bridge' })];
  const addresses = new Map<DevicePart, Properties>();
  const ports = placeExpress(all, addresses);
  for (const [index, part] of conventional.entries()) {
    addresses.set(part, { bus: bridgeId, addr: hex(index + 1) });
  }
  const placed = all.map((part): DevicePart => {
    const address = addresses.get(part) ?? fixedAddress(part);
    return { ...part, properties: { ...address, ...part.properties } };
  });
  // A bus must exist before what is plugged into it.
  const isBus = ({ driver, place }: DevicePart) =>
    driver === 'pcie-pci-bridge' || (place.kind !== 'given' && /scsi|serial|xhci|ahci/.test(driver));
  const bridges = placed.filter(({ driver }) => driver === 'pcie-pci-bridge');
  const controllers = placed.filter((part) => isBus(part) && part.driver !== 'pcie-pci-bridge');
  return [...ports, ...bridges, ...controllers, ...placed.filter((part) => !isBus(part))];
}

function placeExpress(devices: readonly DevicePart[], addresses: Map<DevicePart, Properties>): DevicePart[] {
  const ports: DevicePart[] = [];
  for (const group of pciGroups) {
    for (const part of devices) {
      if (part.place.kind !== 'express' || part.place.group !== group) continue;
      const port = rootPort(ports.length + 1);
      ports.push(port);
      addresses.set(part, { bus: port.id, addr: hex(0) });
    }
  }
  return ports;
}

/** Root port `number`, counting from 1; eight share a slot of the root complex. */
function rootPort(number: number): DevicePart {
  const slot = firstPortSlot + Math.floor((number - 1) / functionsPerSlot);
  const fn = (number - 1) % functionsPerSlot;
  if (slot > lastPortSlot) {
    const most = (lastPortSlot - firstPortSlot + 1) * functionsPerSlot;
    throw failure('InvalidField', 'spec.domain.devices', `it needs more than ${most} PCI devices`);
  }
  return device(
    'pcie-root-port',
    `pci.${number}`,
    { kind: 'given' },
    {
      bus: 'pcie.0',
      addr: `${hex(slot)}.${hex(fn)}`,
      port: (slot << 3) | fn,
      chassis: number,
      ...(fn === 0 ? { multifunction: true } : {}),
    },
  );
}

function fixedAddress({ place }: DevicePart): Properties {
  return place.kind === 'root' ? { bus: 'pcie.0', addr: hex(place.slot) } : {};
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}
