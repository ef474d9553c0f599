import { failure } from '../errors.js';
import {
  device,
  express,
  given,
  pciGroups,
  type DevicePart,
  type Part,
  type PciGroup,
  type Properties,
} from './model.js';

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

/** Devices with their bus and address, each after the bus that it plugs into. */
function placeDevices(devices: readonly DevicePart[]): DevicePart[] {
  const conventional = inGroupOrder(devices, 'conventional');
  const bridge = device('pcie-pci-bridge', bridgeId, express('bridge'));
  const all = conventional.length === 0 ? devices : [bridge, ...devices];
  const expressDevices = inGroupOrder(all, 'express');
  const ports = expressDevices.map((_, index) => rootPort(index + 1));
  const addresses = new Map<DevicePart, Properties>();
  for (const [index, part] of expressDevices.entries()) {
    addresses.set(part, { bus: portId(index + 1), addr: hex(0) });
  }
  for (const [index, part] of conventional.entries()) {
    addresses.set(part, { bus: bridgeId, addr: hex(index + 1) });
  }
  const placed = all.map((part): DevicePart => {
    const address = addresses.get(part) ?? fixedAddress(part);
    return { ...part, properties: { ...address, ...part.properties } };
  });
  const ofGroup = (wanted: PciGroup) => placed.filter((part) => groupOf(part) === wanted);
  const others = placed.filter((part) => groupOf(part) !== 'bridge' && groupOf(part) !== 'controller');
  return [...ports, ...ofGroup('bridge'), ...ofGroup('controller'), ...others];
}

function groupOf({ place }: DevicePart): PciGroup | undefined {
  return place.kind === 'express' || place.kind === 'conventional' ? place.group : undefined;
}

function inGroupOrder(devices: readonly DevicePart[], kind: 'express' | 'conventional'): DevicePart[] {
  return pciGroups.flatMap((group) =>
    devices.filter((part) => part.place.kind === kind && groupOf(part) === group),
  );
}

function portId(number: number): string {
  return `pci.${number}`;
}

/** Root port `number`, counting from 1; eight share a slot of the root complex. */
function rootPort(number: number): DevicePart {
  const slot = firstPortSlot + Math.floor((number - 1) / functionsPerSlot);
  const fn = (number - 1) % functionsPerSlot;
  if (slot > lastPortSlot) {
    const most = (lastPortSlot - firstPortSlot + 1) * functionsPerSlot;
    throw failure('InvalidField', 'spec.domain.devices', `it needs more than ${most} PCI devices`);
  }
  return device('pcie-root-port', portId(number), given, {
    bus: 'pcie.0',
    addr: `${hex(slot)}.${hex(fn)}`,
    port: (slot << 3) | fn,
    chassis: number,
    ...(fn === 0 ? { multifunction: true } : {}),
  });
}

function fixedAddress({ place }: DevicePart): Properties {
  return place.kind === 'root' ? { bus: 'pcie.0', addr: hex(place.slot) } : {};
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}
