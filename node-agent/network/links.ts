/** The links of a network namespace: what there is, and what `ip` has to be told so that what is wanted is there. */
import type { AddressFamily } from '../../openapi/ip-address.js';
import type { Commands } from './commands.js';

export interface Address {
  readonly local: string;
  readonly prefixlen: number;
  readonly family: 'inet' | 'inet6';
  /** `global`, `link` for fe80::/10, `host` for loopback. */
  readonly scope: string;
}

/** The fields of `ip -json -details address` that are read here. */
export interface Link {
  readonly ifname: string;
  readonly address: string;
  readonly mtu: number;
  readonly flags: readonly string[];
  readonly master?: string;
  readonly ifalias?: string;
  readonly addr_info: readonly Address[];
}

/** Those of the link that others can reach, IPv4 first. */
export function globalAddresses({ addr_info: addresses }: Link): readonly Address[] {
  const order = { inet: 0, inet6: 1 };
  return addresses
    .filter(({ scope }) => scope === 'global')
    .toSorted((one, other) => order[one.family] - order[other.family]);
}

export interface Route {
  readonly family: AddressFamily;
  /** `default`, `10.0.0.0/24`, or an address alone. */
  readonly dst: string;
  readonly gateway?: string;
  readonly protocol?: string;
}

export async function readLinks(commands: Commands): Promise<readonly Link[]> {
  return JSON.parse(await commands.run('ip', ['-json', '-details', 'address'])) as Link[];
}

/** Of both families, without those of link-local addresses. */
export async function readRoutes(commands: Commands, device: string): Promise<readonly Route[]> {
  const read = async (family: AddressFamily): Promise<Route[]> => {
    const text = await commands.run('ip', ['-json', `-${family}`, 'route', 'show', 'dev', device]);
    const routes = text.trim() === '' ? [] : (JSON.parse(text) as Omit<Route, 'family'>[]);
    return routes.map(({ dst, gateway, protocol }) => ({
      family,
      dst,
      ...(gateway === undefined ? {} : { gateway }),
      ...(protocol === undefined ? {} : { protocol }),
    }));
  };
  const all = [...(await read(4)), ...(await read(6))];
  return all.filter(({ dst }) => !/^(fe80::|multicast)/.test(dst));
}

export interface WantedLink {
  readonly name: string;
  /** What follows the name in `ip link add`, or `ip tuntap add`; undefined: somebody else makes it. */
  readonly create?: string;
  readonly mtu?: number;
  readonly mac?: string;
  /** The bridge that it is a port of. */
  readonly master?: string;
  /** With their prefix lengths. Others that are there stay. */
  readonly addresses?: readonly string[];
}

export const bridgeLink = 'type bridge forward_delay 0';
export const tapLink = (user: number, queues: number): string =>
  `mode tap user ${user}${queues > 1 ? ' multi_queue' : ''}`;

/** The lines for `ip -batch`; none where everything is as it should be. */
export function linkCommands(present: readonly Link[], wanted: readonly WantedLink[]): readonly string[] {
  return wanted.flatMap((want) =>
    commandsFor(
      present.find(({ ifname }) => ifname === want.name),
      want,
    ),
  );
}

function commandsFor(link: Link | undefined, want: WantedLink): string[] {
  const { name, create, mtu, mac, master, addresses = [] } = want;
  const lines: string[] = [];
  if (link === undefined && create !== undefined) {
    lines.push(
      create.startsWith('mode tap') ? `tuntap add dev ${name} ${create}` : `link add ${name} ${create}`,
    );
    // A bridge's own address is the one that it is given, and needs no time to be tried out.
    if (create === bridgeLink) lines.push(`link set dev ${name} addrgenmode none`);
  }
  const settings = [
    ...(mac !== undefined && link?.address !== mac ? [`address ${mac}`] : []),
    ...(mtu !== undefined && link?.mtu !== mtu ? [`mtu ${mtu}`] : []),
    ...(master !== undefined && link?.master !== master ? [`master ${master}`] : []),
    ...(link?.flags.includes('UP') ? [] : ['up']),
  ];
  if (settings.length > 0) lines.push(`link set dev ${name} ${settings.join(' ')}`);
  const has = new Set(link?.addr_info.map(({ local, prefixlen }) => `${local}/${prefixlen}`));
  for (const address of addresses) {
    if (has.has(address)) continue;
    lines.push(`address add ${address} dev ${name}${address.includes(':') ? ' nodad' : ''}`);
  }
  return lines;
}

export async function ensureLinks(
  commands: Commands,
  present: readonly Link[],
  wanted: readonly WantedLink[],
): Promise<void> {
  await batch(commands, linkCommands(present, wanted));
}

export async function batch(commands: Commands, lines: readonly string[]): Promise<void> {
  if (lines.length > 0) await commands.run('ip', ['-batch', '-'], `${lines.join('\n')}\n`);
}
