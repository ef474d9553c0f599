import { device, given, rootBus, type DevicePart } from './model.js';
import { hex, type PciAddress } from './pci-address.js';

/**
 * Buses whose number the spec has chosen. A guest's firmware numbers buses in the order in which it finds them, beginning
 * anew at each root bus, whose number QEMU sets. So each chosen bus hangs from a root bus of its own: behind one root port
 * for a device in slot 0, which is all that a port has; behind a port and a conventional bridge for the other slots.
 */
export function expandedBuses(addresses: readonly PciAddress[]): DevicePart[] {
  const buses = [...new Set(addresses.map(({ bus }) => bus))].filter((bus) => bus !== 0);
  return buses
    .sort((a, b) => a - b)
    .flatMap((bus, index) =>
      busParts(
        bus,
        index,
        addresses.some((one) => one.bus === bus && one.slot !== 0),
      ),
    );
}

/** Buses between a root bus and the device. */
const behindPort = 1;
const behindBridge = 2;
/** Of the first root bus; where its expanders are counts down from here. */
export const lastSlot = 0x1e;
/** Above those of the ports of the first root bus. */
const firstChassis = 0x80;

/** The first bus that can be chosen: after bus 0, those of `ports` root ports and a bridge, and room for a root bus. */
export function firstExpandedBus(ports: number): number {
  return ports + 2 + behindBridge;
}

const expanderId = (bus: number) => `pci.expander${bus}`;
const portId = (bus: number) => `pci.expander${bus}.port`;
const bridgeId = (bus: number) => `pci.expander${bus}.bridge`;

/** The id of the bus that a device with this address is on. */
export function expandedBus({ bus, slot }: PciAddress): string {
  return slot === 0 ? portId(bus) : bridgeId(bus);
}

function busParts(bus: number, index: number, bridged: boolean): DevicePart[] {
  const number = bus - (bridged ? behindBridge : behindPort);
  const place = { bus: expanderId(bus), addr: hex(0), chassis: firstChassis + index };
  const parts = [
    device('pxb-pcie', expanderId(bus), given, { bus: rootBus, addr: hex(lastSlot - index), bus_nr: number }),
    device('pcie-root-port', portId(bus), given, place),
  ];
  if (!bridged) return parts;
  return [...parts, device('pcie-pci-bridge', bridgeId(bus), given, { bus: portId(bus), addr: hex(0) })];
}
