import { isIPv4 } from 'node:net';
import type { VirtualMachineInstance } from '../openapi/generated/types/kubevirt_v1.js';
import type { GuestInfo } from '../openapi/launcher/protocol.js';
import { interfacesOf, netdevId, stableMac } from './qemu/network.js';

/** The id of the network that ports of the guest are reached through: that of its first interface. */
export function networkIdOf(vmi: VirtualMachineInstance): string | undefined {
  const [first] = interfacesOf(vmi);
  return first && netdevId(first.name);
}

/** The IPv4 address of the first interface, where the guest agent has told it. */
export function guestAddressOf(
  vmi: VirtualMachineInstance,
  guest: GuestInfo | undefined,
): string | undefined {
  const [first] = interfacesOf(vmi);
  if (!first) return undefined;
  const mac = (first.macAddress ?? stableMac(vmi.metadata.uid, first.name))
    .toLowerCase()
    .replaceAll('-', ':');
  const found = guest?.interfaces?.find((entry) => entry.mac?.toLowerCase() === mac);
  return found?.addresses.map((address) => address.replace(/\/.*$/, '')).find((address) => isIPv4(address));
}
