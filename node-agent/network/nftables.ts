/** nft rules of a pod whose guest is behind address translation. */
import type { Interface, Port, PortRange } from '../../openapi/generated/types/kubevirt_v1.js';

export interface TranslatedGuest {
  readonly podInterface: string;
  readonly ipv4: string;
  /** Absent where the pod has no IPv6 address. */
  readonly ipv6?: string;
  readonly ports: Pick<Interface, 'ports' | 'portRanges'>;
}

/** The table that holds a pod's rules, of families inet and bridge. */
const table = 'nativirt';

/** A complete new table in place of the old one, in one transaction. */
function tableText(family: string, name: string, chains: readonly string[]): string {
  return `add table ${family} ${name}\ndelete table ${family} ${name}\ntable ${family} ${name} {\n${chains.join('\n')}\n}\n`;
}

function chain(name: string, head: string, rules: readonly string[]): string {
  return [
    `  chain ${name} {`,
    `    ${head}; policy accept;`,
    ...rules.map((rule) => `    ${rule}`),
    '  }',
  ].join('\n');
}

const destinationHook = 'type nat hook prerouting priority dstnat';
const sourceHook = 'type nat hook postrouting priority srcnat';

/** What comes to the pod goes to its guest, where the spec lists ports to those alone; what the guest sends comes from the pod. */
export function translationTable(guests: readonly TranslatedGuest[]): string {
  return tableText('inet', table, [
    chain('prerouting', destinationHook, guests.flatMap(inward)),
    chain('postrouting', sourceHook, guests.flatMap(outward)),
  ]);
}

function inward({ podInterface, ipv4, ipv6, ports }: TranslatedGuest): string[] {
  const targets = [`dnat ip to ${ipv4}`, ...(ipv6 === undefined ? [] : [`dnat ip6 to ${ipv6}`])];
  return targets.flatMap((target) => {
    const family = target.startsWith('dnat ip6') ? 'ipv6' : 'ipv4';
    const from = `iifname "${podInterface}" meta nfproto ${family}`;
    return portMatches(ports).map((match) => [from, match, target].filter((word) => word !== '').join(' '));
  });
}

function outward({ podInterface, ipv4, ipv6 }: TranslatedGuest): string[] {
  const from = `oifname "${podInterface}"`;
  return [
    `${from} ip saddr ${ipv4} masquerade`,
    ...(ipv6 === undefined ? [] : [`${from} ip6 saddr ${ipv6} masquerade`]),
  ];
}

/** A match for each protocol that has open ports; one that lets everything in where the spec lists none. */
function portMatches({ ports = [], portRanges = [] }: Pick<Interface, 'ports' | 'portRanges'>): string[] {
  if (ports.length === 0 && portRanges.length === 0) return [''];
  const byProtocol = new Map<string, string[]>();
  const add = ({ protocol = 'TCP' }: Port | PortRange, text: string): void => {
    const key = protocol.toLowerCase();
    byProtocol.set(key, [...(byProtocol.get(key) ?? []), text]);
  };
  for (const port of ports) add(port, String(port.port));
  for (const range of portRanges) add(range, `${range.start}-${range.end}`);
  return [...byProtocol].map(([protocol, list]) => `${protocol} dport { ${list.join(', ')} }`);
}

export interface BridgedGuest {
  readonly tap: string;
  /** The launcher's own address on the bridge, and the bridge's MAC. */
  readonly server: string;
  readonly bridgeMac: string;
}

/**
 * A guest on the pod's network sends what it has for the launcher to its own gateway: it knows no other way. These rules turn
 * that round at the tap. And its questions for a DHCP server stay inside: the launcher answers them.
 */
export function bridgeTable(guests: readonly BridgedGuest[]): string {
  const turned = guests.map(
    ({ tap, server, bridgeMac }) =>
      `iifname "${tap}" ip daddr ${server} ether daddr set ${bridgeMac} meta pkttype set host accept`,
  );
  const kept = guests.flatMap(({ tap }) => [
    `iifname "${tap}" udp dport { 67, 547 } drop`,
    `oifname "${tap}" udp dport { 68, 546 } drop`,
  ]);
  return tableText('bridge', table, [
    chain('prerouting', 'type filter hook prerouting priority dstnat', turned),
    chain('forward', 'type filter hook forward priority filter', kept),
  ]);
}

/** The node's side of a standalone pod network: what leaves it comes from the node. */
export function nodeTable(
  bridge: string,
  ranges: readonly { readonly network: string; readonly ipv6: boolean }[],
): string {
  const rules = ranges.map(({ network, ipv6 }) => {
    const word = ipv6 ? 'ip6' : 'ip';
    return `${word} saddr ${network} ${word} daddr != ${network} masquerade`;
  });
  return tableText('inet', nodeTableName(bridge), [chain('postrouting', sourceHook, rules)]);
}

export const nodeTableName = (bridge: string): string => `nativirt-${bridge}`;
