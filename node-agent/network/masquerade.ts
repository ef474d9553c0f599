/** The masquerade binding: the guest has a private network with the pod, which translates its addresses. */
import type { Interface, PodNetwork } from '../../openapi/generated/types/kubevirt_v1.js';
import { addressAt, parseRange } from '../../openapi/ip-address.js';
import type { GuestIPv4, GuestIPv6, TapInterface } from '../../openapi/launcher/network.js';
import { NetworkError } from './interface.js';
import { bridgeLink, tapLink, type Address, type WantedLink } from './links.js';
import type { TranslatedGuest } from './nftables.js';

const defaultRange = '10.0.2.0/24';
const defaultIPv6Range = 'fd10:0:2::/120';
/** The bridge is the guest's router also by an address that follows from nothing and never changes. */
export const routerAddress = 'fe80::1/64';

export interface PodFacts {
  readonly podInterface: string;
  readonly mtu: number;
  readonly addresses: readonly Address[];
}

export interface BindingInput {
  readonly entry: Interface;
  readonly pod: PodNetwork | undefined;
  readonly tap: string;
  readonly bridge: string;
  readonly user: number;
  readonly queues: number;
  /** Of the guest's interface. */
  readonly mac: string;
  readonly icmp: GuestIPv6['icmp'];
}

export interface MasqueradePlan {
  readonly links: readonly WantedLink[];
  readonly translated: TranslatedGuest;
  readonly tap: TapInterface;
}

export function masquerade(
  input: BindingInput,
  { podInterface, mtu, addresses: own }: PodFacts,
): MasqueradePlan {
  const { entry, pod, tap, bridge, user, queues, mac, icmp } = input;
  const ipv4 = addressesIn(pod?.vmNetworkCIDR ?? defaultRange);
  const hasIPv6 = own.some(({ family }) => family === 'inet6');
  const ipv6 = hasIPv6 ? addressesIn(pod?.vmIPv6NetworkCIDR ?? defaultIPv6Range) : undefined;
  const addresses = [
    `${ipv4.gateway}/${ipv4.prefixLength}`,
    ...(ipv6 === undefined ? [] : [`${ipv6.gateway}/${ipv6.prefixLength}`, routerAddress]),
  ];
  const guestIPv4: GuestIPv4 = {
    address: ipv4.guest,
    prefixLength: ipv4.prefixLength,
    server: ipv4.gateway,
    gateway: ipv4.gateway,
    routes: [],
  };
  return {
    links: [
      { name: bridge, create: bridgeLink, mtu, addresses },
      { name: tap, create: tapLink(user, queues), mtu, master: bridge },
    ],
    translated: {
      podInterface,
      ipv4: ipv4.guest,
      ...(ipv6 === undefined ? {} : { ipv6: ipv6.guest }),
      ports: entry,
    },
    tap: {
      kind: 'tap',
      device: tap,
      podInterface,
      addresses: own.map(({ local }) => local),
      mac,
      mtu,
      queues,
      ipv4: guestIPv4,
      ...(ipv6 === undefined
        ? {}
        : { ipv6: { address: ipv6.guest, prefixLength: ipv6.prefixLength, bridge, isRouter: true, icmp } }),
    },
  };
}

/** The first address is the pod's, the second the guest's. */
function addressesIn(text: string): { gateway: string; guest: string; prefixLength: number } {
  try {
    const range = parseRange(text);
    return { gateway: addressAt(range, 1), guest: addressAt(range, 2), prefixLength: range.prefixLength };
  } catch (error) {
    throw new NetworkError(`the guest's network ${text} is no range of addresses`, { cause: error });
  }
}
