/** `status.interfaces` of a VMI, from its spec and from what the guest agent tells. */
import type {
  Interface,
  VirtualMachineInstance,
  VirtualMachineInstanceNetworkInterface,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { guestMac, interfacesOf } from '../../openapi/launcher/interfaces.js';
import type { LauncherInterface, LauncherNetwork } from '../../openapi/launcher/network.js';
import type { GuestInfo } from '../../openapi/launcher/protocol.js';

type GuestInterface = NonNullable<GuestInfo['interfaces']>[number];

function isLoopback({ name, mac }: GuestInterface): boolean {
  return name === 'lo' || mac === '00:00:00:00:00:00';
}

/** Without prefix lengths; IPv4 first, link-local last. */
function addressesOf({ addresses }: GuestInterface): string[] {
  const rank = (address: string): number =>
    address.toLowerCase().startsWith('fe80:') ? 2 : address.includes(':') ? 1 : 0;
  const bare = addresses.map((address) => address.replace(/\/.*$/, ''));
  return bare.sort((a, b) => rank(a) - rank(b));
}

function guestFields(found: GuestInterface): VirtualMachineInstanceNetworkInterface {
  return {
    interfaceName: found.name,
    ...(found.mac === undefined ? {} : { mac: found.mac }),
    ...addressFields(addressesOf(found)),
  };
}

function addressFields(
  ipAddresses: readonly string[],
): Pick<VirtualMachineInstanceNetworkInterface, 'ipAddress' | 'ipAddresses'> {
  const [ipAddress] = ipAddresses;
  return ipAddress === undefined ? {} : { ipAddress, ipAddresses: [...ipAddresses] };
}

/** A guest whose addresses are translated is known by its pod's. */
function isTranslated({ masquerade, bridge, binding }: Interface): boolean {
  return masquerade !== undefined || (bridge === undefined && binding === undefined);
}

/** What the pod's network tells, over what the guest does. */
function podFields(
  entry: Interface,
  made: LauncherInterface | undefined,
  found: GuestInterface | undefined,
): VirtualMachineInstanceNetworkInterface {
  if (made === undefined) return {};
  const known = isTranslated(entry) || found === undefined || found.addresses.length === 0;
  return { podInterfaceName: made.podInterface, ...(known ? addressFields(made.addresses) : {}) };
}

/** @param network what the node has made for the guest; undefined: it has QEMU's user-mode network */
export function interfaceStatus(
  vmi: VirtualMachineInstance,
  guest: GuestInfo | undefined,
  network?: LauncherNetwork,
): VirtualMachineInstanceNetworkInterface[] {
  const unmatched = (guest?.interfaces ?? []).filter((found) => !isLoopback(found));
  const take = (wanted: (found: GuestInterface) => boolean): GuestInterface | undefined => {
    const index = unmatched.findIndex(wanted);
    return index < 0 ? undefined : unmatched.splice(index, 1)[0];
  };
  const entries = interfacesOf(vmi);
  const macOf = (entry: Interface): string | undefined =>
    network?.interfaces[entry.name]?.mac ??
    (entry.sriov === undefined ? guestMac(vmi, entry) : entry.macAddress);
  const byMac = entries.map((entry) => take(({ mac }) => mac?.toLowerCase() === macOf(entry)));
  const known = entries.map((entry, index): VirtualMachineInstanceNetworkInterface => {
    // Guests list their interfaces in the order of their slots, which is that of the spec.
    const found = byMac[index] ?? (entry.macAddress === undefined ? take(() => true) : undefined);
    const made = network?.interfaces[entry.name];
    const mac = macOf(entry);
    return {
      name: entry.name,
      linkState: entry.state === 'down' ? 'down' : 'up',
      infoSource: found === undefined ? 'domain' : 'domain, guest-agent',
      queueCount: made?.kind === 'tap' ? made.queues : 1,
      ...(mac === undefined ? {} : { mac }),
      ...(found === undefined ? {} : guestFields(found)),
      ...podFields(entry, made, found),
    };
  });
  return [...known, ...unmatched.map((found) => ({ infoSource: 'guest-agent', ...guestFields(found) }))];
}
