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
  /** For QMP, in this order, before the guest runs. */
  readonly commands: readonly { readonly execute: string; readonly arguments: Properties }[];
}

const firstPortSlot = 0x2;
const lastPortSlot = 0x1e;
const functionsPerSlot = 8;
const bridgeId = 'pci.bridge';
const rootBus = 'pcie.0';

/** Places the PCI devices and renders all parts as arguments, in the order that QEMU needs them. */
export function assemble(parts: readonly Part[]): CommandLine {
  const devices = placeDevices(parts.filter((part) => part.part === 'device'));
  const argv = [...machineArguments(parts), ...cpuArguments(parts)];
  const environment: Record<string, string> = {};
  const commands = parts.filter((part) => part.part === 'command');
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
      case 'command':
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
  return { argv, environment, commands };
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
  const extra = expanders(devices, expressDevices.length);
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
  return [...ports, ...extra, ...ofGroup('bridge'), ...ofGroup('controller'), ...others];
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
    bus: rootBus,
    addr: `${hex(slot)}.${hex(fn)}`,
    port: (slot << 3) | fn,
    chassis: number,
    ...(fn === 0 ? { multifunction: true } : {}),
  });
}

function fixedAddress({ place }: DevicePart): Properties {
  switch (place.kind) {
    case 'root':
      return { bus: rootBus, addr: hex(place.slot) };
    case 'address': {
      const { bus, slot, fn } = place.address;
      return { bus: bus === 0 ? rootBus : expanderId(bus), addr: `${hex(slot)}.${hex(fn)}` };
    }
    case 'express':
    case 'conventional':
    case 'given':
      return {};
  }
}

const expanderId = (bus: number) => `pci.expander${bus}`;
/** Of the root bus: the display's slot, and those of q35's own devices. */
const takenSlots = [0x0, 0x1, 0x1f];

/**
 * A root bus of its own for each bus number that the spec asks for: there alone the guest finds a device under the number
 * that the spec says, since its firmware numbers the buses behind bridges as it likes.
 */
function expanders(devices: readonly DevicePart[], ports: number): DevicePart[] {
  const buses = new Set<number>();
  const lastSlot = firstPortSlot + Math.floor(Math.max(0, ports - 1) / functionsPerSlot);
  for (const { id, place } of devices) {
    if (place.kind !== 'address') continue;
    const { bus, slot } = place.address;
    const free = bus === 0 ? slot > lastSlot && !takenSlots.includes(slot) : bus > ports + 1;
    if (!free) {
      const where = `the PCI address of ${id} is taken: use a slot from ${hex(lastSlot + 1)} to 0x1e of bus 0, or a bus from ${hex(ports + 2)} on`;
      throw failure('InvalidField', 'spec.domain.devices', where);
    }
    if (bus !== 0) buses.add(bus);
  }
  return [...buses]
    .sort((a, b) => a - b)
    .map((bus) => device('pxb-pcie', expanderId(bus), given, { bus: rootBus, bus_nr: bus }));
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}
