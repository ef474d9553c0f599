/** `status.interfaces` of a VMI, from its spec and from what the guest agent tells. */
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceNetworkInterface,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { GuestInfo } from '../../openapi/launcher/protocol.js';

type GuestInterface = NonNullable<GuestInfo['interfaces']>[number];

interface SpecInterface {
  readonly name: string;
  readonly macAddress?: string;
}

function specInterfaces({ spec }: VirtualMachineInstance): readonly SpecInterface[] {
  const { interfaces = [], autoattachPodInterface } = spec.domain.devices;
  if (interfaces.length > 0 || autoattachPodInterface === false) return interfaces;
  return [{ name: 'default' }];
}

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
  const ipAddresses = addressesOf(found);
  const [ipAddress] = ipAddresses;
  return {
    interfaceName: found.name,
    ...(found.mac === undefined ? {} : { mac: found.mac }),
    ...(ipAddress === undefined ? {} : { ipAddress, ipAddresses }),
  };
}

export function interfaceStatus(
  vmi: VirtualMachineInstance,
  guest: GuestInfo | undefined,
): VirtualMachineInstanceNetworkInterface[] {
  const unmatched = (guest?.interfaces ?? []).filter((found) => !isLoopback(found));
  const take = (wanted: (found: GuestInterface) => boolean): GuestInterface | undefined => {
    const index = unmatched.findIndex(wanted);
    return index < 0 ? undefined : unmatched.splice(index, 1)[0];
  };
  const specs = specInterfaces(vmi);
  const byMac = specs.map(({ macAddress }) =>
    macAddress === undefined
      ? undefined
      : take(({ mac }) => mac?.toLowerCase() === macAddress.toLowerCase().replaceAll('-', ':')),
  );
  const known = specs.map(({ name, macAddress }, index) => {
    // Guests list their interfaces in the order of their slots, which is that of the spec.
    const found = byMac[index] ?? (macAddress === undefined ? take(() => true) : undefined);
    return {
      name,
      linkState: 'up',
      infoSource: found === undefined ? 'domain' : 'domain, guest-agent',
      queueCount: 1,
      ...(macAddress === undefined ? {} : { mac: macAddress }),
      ...(found === undefined ? {} : guestFields(found)),
    };
  });
  return [...known, ...unmatched.map((found) => ({ infoSource: 'guest-agent', ...guestFields(found) }))];
}
