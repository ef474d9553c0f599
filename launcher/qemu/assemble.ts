import { failure } from '../errors.js';
import { expandedBus, expandedBuses, firstExpandedBus, lastSlot } from './expander.js';
import { hex } from './pci-address.js';
import {
  device,
  express,
  given,
  pciGroups,
  rootBus,
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
const functionsPerSlot = 8;
const bridgeId = 'pci.bridge';

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
  const extra = placeChosen(devices, expressDevices.length);
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
  if (slot > lastSlot) {
    const most = (lastSlot - firstPortSlot + 1) * functionsPerSlot;
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
      return { bus: bus === 0 ? rootBus : expandedBus(place.address), addr: `${hex(slot)}.${hex(fn)}` };
    }
    case 'express':
    case 'conventional':
    case 'given':
      return {};
  }
}

/** What has to be there for the places that the spec has chosen, next to `ports` root ports. */
function placeChosen(devices: readonly DevicePart[], ports: number): DevicePart[] {
  const chosen = devices.flatMap(({ id, place }) =>
    place.kind === 'address' ? [{ id, address: place.address }] : [],
  );
  const firstFree = firstPortSlot + Math.ceil(ports / functionsPerSlot);
  const expanders = new Set(chosen.map(({ address }) => address.bus).filter((bus) => bus !== 0)).size;
  const lastFree = lastSlot - expanders;
  for (const { id, address } of chosen) {
    const { bus, slot, fn } = address;
    const free =
      bus === 0 ? firstFree <= slot && slot <= lastFree : fn === 0 && firstExpandedBus(ports) <= bus;
    if (free) continue;
    const where = `from ${hex(firstFree)} to ${hex(lastFree)} of bus 0, or function 0 of a slot of a bus from ${hex(firstExpandedBus(ports))} on`;
    throw failure(
      'InvalidField',
      'spec.domain.devices',
      `the PCI address of ${id} is taken: use a slot ${where}`,
    );
  }
  return expandedBuses(chosen.map(({ address }) => address));
}
