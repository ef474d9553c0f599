/** Flags of the pods' network, and the network that they mean. */
import path from 'node:path';
import { BridgePodNetwork } from '../../node-agent/network/bridge-pod-network.js';
import { parseRange, sizeOf, type AddressRange } from '../../openapi/ip-address.js';
import { FlagError } from '../commands/flags.js';

export type PodNetworkOptions =
  /** Launchers share the node's network, and guests have QEMU's user-mode one. */
  | { readonly kind: 'user' }
  | {
      readonly kind: 'bridge';
      readonly bridge: string;
      /** IPv4 first. */
      readonly ranges: readonly AddressRange[];
      /** Bridges by network name. */
      readonly secondary: ReadonlyMap<string, string>;
    };

export const podNetworkFlags = {
  'pod-network': { type: 'string' },
  'pod-network-bridge': { type: 'string' },
  'pod-cidr': { type: 'string' },
  'secondary-network': { type: 'string', multiple: true },
} as const;

export const podNetworkUsage = `  --pod-network MODE        user: guests reach out by QEMU's user-mode network; bridge: each launcher has a network
                            namespace on a bridge with addresses of its own, which needs root (default: user)
  --pod-network-bridge NAME the bridge; made if it is not there (default: nativirt0)
  --pod-cidr RANGES         its addresses: one or two ranges, the node has the first address of each
                            (default: 10.244.0.0/16,fd10:244::/112)
  --secondary-network NAME=BRIDGE
                            what multus networks of this name are here; may be given more than once
`;

interface Values {
  readonly 'pod-network'?: string | undefined;
  readonly 'pod-network-bridge'?: string | undefined;
  readonly 'pod-cidr'?: string | undefined;
  readonly 'secondary-network'?: string[] | undefined;
}

/** Throws `FlagError`. */
export function parsePodNetwork(values: Values): PodNetworkOptions {
  const mode = values['pod-network'] ?? 'user';
  if (mode === 'user') return { kind: 'user' };
  if (mode !== 'bridge') throw new FlagError(`--pod-network ${mode}: must be user or bridge`);
  if (process.getuid?.() !== 0) throw new FlagError('--pod-network bridge: only root can make networks');
  return {
    kind: 'bridge',
    bridge: device('--pod-network-bridge', values['pod-network-bridge'] ?? 'nativirt0'),
    ranges: ranges(values['pod-cidr'] ?? '10.244.0.0/16,fd10:244::/112'),
    secondary: new Map((values['secondary-network'] ?? []).map(secondary)),
  };
}

function device(flag: string, name: string): string {
  if (/^[A-Za-z0-9][\w.-]{0,14}$/.test(name)) return name;
  throw new FlagError(
    `${flag} ${name}: must be a device name of at most 15 letters, digits, "_", "." and "-"`,
  );
}

function ranges(text: string): readonly AddressRange[] {
  const fault = `--pod-cidr ${text}: must be a range of IPv4 addresses, of IPv6 addresses, or one of each`;
  let parsed: readonly AddressRange[];
  try {
    parsed = text.split(',').map(parseRange);
  } catch (error) {
    throw new FlagError(fault, { cause: error });
  }
  const sorted = parsed.toSorted((one, other) => one.family - other.family);
  const distinct = new Set(sorted.map(({ family }) => family)).size === sorted.length;
  if (!distinct || sorted.some((range) => sizeOf(range) < 4n)) throw new FlagError(fault);
  return sorted;
}

function secondary(text: string): [string, string] {
  const [name = '', bridge = '', ...more] = text.split('=');
  if (name === '' || more.length > 0) throw new FlagError(`--secondary-network ${text}: must be NAME=BRIDGE`);
  return [name, device('--secondary-network', bridge)];
}

export function podNetworkOf(
  options: PodNetworkOptions,
  dataDirectory: string,
): BridgePodNetwork | undefined {
  if (options.kind === 'user') return undefined;
  const { bridge, ranges, secondary } = options;
  const addressFile = path.join(dataDirectory, 'network', 'addresses.json');
  return new BridgePodNetwork({ bridge, ranges, secondary, addressFile });
}
