/** The bridge binding: the pod's interface becomes a port of a bridge, and its addresses the guest's. */
import { networkText, parseRange, type AddressFamily } from '../../openapi/ip-address.js';
import type { GuestIPv4, GuestIPv6, TapInterface } from '../../openapi/launcher/network.js';
import { bridgeLink, tapLink, type Link, type Route, type WantedLink } from './links.js';
import { routerAddress, type BindingInput } from './masquerade.js';
import type { HandedOver } from './state.js';

export interface BridgePlan {
  readonly links: readonly WantedLink[];
  /** Lines for `ip -batch` when the links are there; they may be said again. */
  readonly routes: readonly string[];
  readonly tap: TapInterface;
}

export function handOver(link: Link, routes: readonly Route[]): HandedOver {
  return {
    mac: link.address,
    addresses: link.addr_info
      .filter(({ scope }) => scope !== 'link')
      .map(({ local, prefixlen }) => `${local}/${prefixlen}`),
    routes: routes.filter(({ protocol }) => protocol !== 'ra'),
  };
}

/** @param index of the interface in the spec: each bridge has an address of its own for the launcher */
export function bridge(
  input: BindingInput,
  podInterface: string,
  mtu: number,
  given: HandedOver,
  index: number,
): BridgePlan {
  const { tap, bridge: name, user, queues, mac, icmp } = input;
  const server = `169.254.75.${10 + index}`;
  const ipv4 = guestIPv4(given, server);
  const ipv6 = guestIPv6(given, name, icmp);
  return {
    links: [
      {
        name,
        create: bridgeLink,
        mtu,
        mac: localMac(given.mac, 0xfe),
        addresses: [`${server}/32`, ...(ipv6 === undefined ? [] : [routerAddress])],
      },
      // The guest has the address now that was the interface's: a bridge must not learn it behind both.
      { name: podInterface, mac: localMac(given.mac, 0xfa), master: name },
      { name: tap, create: tapLink(user, queues), mtu, master: name },
    ],
    routes: [
      ...(ipv4 === undefined ? [] : [`route replace ${ipv4.address}/32 dev ${name} src ${server}`]),
      ...(ipv6 === undefined ? [] : forwardingRoutes(ipv6.address, given, name)),
    ],
    tap: {
      kind: 'tap',
      device: tap,
      podInterface,
      addresses: [ipv4, ipv6].flatMap((known) => (known === undefined ? [] : [known.address])),
      mac,
      mtu,
      queues,
      ...(ipv4 === undefined ? {} : { ipv4 }),
      ...(ipv6 === undefined ? {} : { ipv6 }),
    },
  };
}

/** Another address for a device beside the one that the guest has. */
function localMac(mac: string, first: number): string {
  return [first.toString(16), ...mac.split(':').slice(1)].join(':');
}

function rangeOf({ addresses }: HandedOver, family: AddressFamily): string | undefined {
  return addresses.find((range) => parseRange(range).family === family);
}

function guestIPv4(given: HandedOver, server: string): GuestIPv4 | undefined {
  const range = rangeOf(given, 4);
  if (range === undefined) return undefined;
  const own = parseRange(range);
  const routes = given.routes.filter(({ family }) => family === 4);
  const gateway = routes.find(({ dst }) => dst === 'default')?.gateway;
  const others = routes.filter(
    ({ dst }) => dst !== 'default' && networkText(parseRange(dst)) !== networkText(own),
  );
  return {
    address: bare(range),
    prefixLength: own.prefixLength,
    server,
    ...(gateway === undefined ? {} : { gateway }),
    routes: others.map(({ dst, gateway: via = '0.0.0.0' }) => ({
      destination: networkText(parseRange(dst)),
      gateway: via,
    })),
  };
}

function guestIPv6(given: HandedOver, bridge: string, icmp: GuestIPv6['icmp']): GuestIPv6 | undefined {
  const range = rangeOf(given, 6);
  if (range === undefined) return undefined;
  const isRouter = given.routes.some(({ family, dst }) => family === 6 && dst === 'default');
  return { address: bare(range), prefixLength: parseRange(range).prefixLength, bridge, isRouter, icmp };
}

function bare(range: string): string {
  return range.replace(/\/.*$/, '');
}

/** The guest's router is the bridge: it passes on to where the pod's routes lead. */
function forwardingRoutes(own: string, { routes }: HandedOver, name: string): string[] {
  const others = routes.filter(({ family, dst }) => family === 6 && dst !== own);
  // The way to a gateway comes before what it leads to.
  const ordered = [...others.filter(({ gateway }) => !gateway), ...others.filter(({ gateway }) => gateway)];
  const passed = ordered.map(({ dst, gateway }) => {
    const to = dst === 'default' ? '::/0' : dst;
    return `route replace ${to}${gateway === undefined ? '' : ` via ${gateway}`} dev ${name}`;
  });
  return [`route replace ${own}/128 dev ${name}`, ...passed];
}
