import { isIPv4 } from 'node:net';
import type { VirtualMachineInstance } from '../openapi/generated/types/kubevirt_v1.js';
import { guestMac, interfacesOf } from '../openapi/launcher/interfaces.js';
import type { GuestInfo } from '../openapi/launcher/protocol.js';

/** The IPv4 address of the first interface, where the guest agent has told it. */
export function guestAddressOf(
  vmi: VirtualMachineInstance,
  guest: GuestInfo | undefined,
): string | undefined {
  const [first] = interfacesOf(vmi);
  if (!first) return undefined;
  const mac = guestMac(vmi, first);
  const found = guest?.interfaces?.find((entry) => entry.mac?.toLowerCase() === mac);
  return found?.addresses.map((address) => address.replace(/\/.*$/, '')).find((address) => isIPv4(address));
}
