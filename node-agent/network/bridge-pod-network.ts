/**
 * Standalone's pod network: a bridge on the node, and for each pod a network namespace with an interface on it, and further
 * interfaces on the bridges that stand for secondary networks. What leaves the pods' network comes from the node.
 */
import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import {
  networksAnnotation,
  primaryPodInterface,
  type NetworkRequest,
} from '../../openapi/launcher/pod-interfaces.js';
import { networkText, type AddressRange } from '../../openapi/ip-address.js';
import { isNotExist } from '../files.js';
import { AddressPool } from './address-pool.js';
import { namespaceCommands, nodeCommands, type Commands } from './commands.js';
import { NetworkError, type PodAttachment, type PodNetwork } from './interface.js';
import { batch, bridgeLink, ensureLinks, readLinks, type WantedLink } from './links.js';
import { nodeTable, nodeTableName } from './nftables.js';

export interface BridgePodNetworkOptions {
  /** The bridge of the pods' network; made if it is not there. At most 15 characters. */
  readonly bridge: string;
  /** Of pods and the node; one or two, of different families, IPv4 first. */
  readonly ranges: readonly AddressRange[];
  /** Bridges by the name of a secondary network; made if they are not there. */
  readonly secondary: ReadonlyMap<string, string>;
  /** Remembers addresses. */
  readonly addressFile: string;
}

const namespaceDirectory = '/run/netns';
/** Tells the bridges that were made here from those that were there. */
const ownAlias = 'nativirt';

export class BridgePodNetwork implements PodNetwork {
  private readonly pool: AddressPool;
  private readonly node = nodeCommands;
  private ready: Promise<void> | undefined;

  constructor(private readonly options: BridgePodNetworkOptions) {
    this.pool = new AddressPool(options.addressFile, options.ranges);
  }

  async attach(pod: Pod, signal: AbortSignal): Promise<PodAttachment> {
    await this.prepared();
    const { uid } = pod.metadata;
    const addresses = await this.pool.take(uid);
    const namespace = this.path(uid);
    if (!(await exists(namespace))) await this.node.run('ip', ['netns', 'add', this.namespaceName(uid)]);
    const inside = namespaceCommands(namespace, signal);
    await this.connect(inside, uid, { name: primaryPodInterface, bridge: this.options.bridge });
    await this.address(inside, addresses);
    for (const request of this.secondaryRequests(pod)) await this.connect(inside, uid, request);
    return { namespace, addresses: addresses.map((address) => address.replace(/\/.*$/, '')) };
  }

  async detach(podUid: string): Promise<void> {
    // Its end of each pair of devices goes with the namespace, and the node's end with that. The kernel takes its time when
    // it removes a namespace, so the node's ends are removed first: nobody meets an address twice.
    const present = await readLinks(this.node);
    const prefix = this.hostPrefix(podUid);
    const ends = present.filter(({ ifname }) => ifname.startsWith(prefix));
    await batch(
      this.node,
      ends.map(({ ifname }) => `link delete dev ${ifname}`),
    );
    if (await exists(this.path(podUid)))
      await this.node.run('ip', ['netns', 'delete', this.namespaceName(podUid)]);
    await this.pool.release(podUid);
  }

  async namespaceOf(podUid: string): Promise<string | undefined> {
    const path = this.path(podUid);
    return (await exists(path)) ? path : undefined;
  }

  /** When no pod is left: takes away what this network has made on the node. */
  async removeFromNode(): Promise<void> {
    if ((await this.pool.pods()).length > 0) return;
    const present = await readLinks(this.node);
    const bridges = [this.options.bridge, ...this.options.secondary.values()];
    const empty = present.filter(
      ({ ifname, ifalias }) =>
        ifalias === ownAlias && bridges.includes(ifname) && !present.some(({ master }) => master === ifname),
    );
    await batch(
      this.node,
      empty.map(({ ifname }) => `link delete dev ${ifname}`),
    );
    const table = nodeTableName(this.options.bridge);
    await this.node.run('nft', ['-f', '-'], `add table inet ${table}\ndelete table inet ${table}\n`);
    this.ready = undefined;
  }

  private prepared(): Promise<void> {
    this.ready ??= this.prepareNode().catch((error: unknown) => {
      this.ready = undefined;
      throw error;
    });
    return this.ready;
  }

  private async prepareNode(): Promise<void> {
    const { bridge, ranges, secondary } = this.options;
    const present = await readLinks(this.node);
    const bridges: WantedLink[] = [
      { name: bridge, create: bridgeLink, addresses: this.pool.gateways },
      ...[...secondary.values()].map((name) => ({ name, create: bridgeLink })),
    ];
    const missing = bridges.filter(({ name }) => !present.some(({ ifname }) => ifname === name));
    await ensureLinks(this.node, present, bridges);
    await batch(
      this.node,
      missing.map(({ name }) => `link set dev ${name} alias ${ownAlias}`),
    );
    const ipv6 = ranges.some(({ family }) => family === 6);
    const forwarding = ['net.ipv4.ip_forward=1', ...(ipv6 ? ['net.ipv6.conf.all.forwarding=1'] : [])];
    await this.node.run('sysctl', ['-q', '-w', ...forwarding]);
    const translated = ranges.map((range) => ({ network: networkText(range), ipv6: range.family === 6 }));
    await this.node.run('nft', ['-f', '-'], nodeTable(bridge, translated));
  }

  private async connect(inside: Commands, podUid: string, { name, bridge }: Attachment): Promise<void> {
    const host = this.hostDevice(podUid, name);
    const present = await readLinks(this.node);
    const there = (await readLinks(inside)).map(({ ifname }) => ifname);
    // An end that is alone is what an agent left that died between two steps: pairs are made whole, then named.
    const create = `type veth peer name ${name} netns ${this.namespaceName(podUid)}`;
    await ensureLinks(this.node, present, [
      { name: host, ...(there.includes(name) ? {} : { create }), master: bridge },
    ]);
    await batch(inside, ['link set dev lo up', `link set dev ${name} up`]);
  }

  /** The pod's addresses and its way out. Where a bridge binding has handed them to the guest, they are left with it. */
  private async address(inside: Commands, addresses: readonly string[]): Promise<void> {
    const present = await readLinks(inside);
    const device = present.find(({ ifname }) => ifname === primaryPodInterface);
    if (device === undefined || device.master !== undefined) return;
    await ensureLinks(inside, present, [{ name: primaryPodInterface, addresses }]);
    await batch(
      inside,
      this.pool.gateways.map((gateway) => {
        const via = gateway.replace(/\/.*$/, '');
        return `route replace ${via.includes(':') ? '::/0' : '0.0.0.0/0'} via ${via} dev ${primaryPodInterface}`;
      }),
    );
  }

  /** What the pod's annotation asks for, as a cluster's network plugin reads it. */
  private secondaryRequests({ metadata }: Pod): readonly Attachment[] {
    const text = metadata.annotations?.[networksAnnotation];
    if (text === undefined) return [];
    // The VMI controller writes it.
    const list = JSON.parse(text) as readonly NetworkRequest[];
    return list.map(({ name, interface: wanted }) => {
      const bridge = this.options.secondary.get(name);
      if (bridge === undefined) {
        const known = [...this.options.secondary.keys()].join(', ') || 'none';
        throw new NetworkError(`this node has no secondary network ${name} (it has ${known})`);
      }
      return { name: wanted, bridge };
    });
  }

  private path(podUid: string): string {
    return join(namespaceDirectory, this.namespaceName(podUid));
  }

  private namespaceName(podUid: string): string {
    return `nativirt-${podUid}`;
  }

  /** Device names have at most 15 characters. */
  private hostPrefix(podUid: string): string {
    return `nv${createHash('sha256').update(podUid).digest('hex').slice(0, 8)}`;
  }

  private hostDevice(podUid: string, podDevice: string): string {
    const suffix =
      podDevice === primaryPodInterface
        ? ''
        : createHash('sha256').update(podDevice).digest('hex').slice(0, 4);
    return `${this.hostPrefix(podUid)}${suffix}`;
  }
}

interface Attachment {
  /** Of the interface in the pod. */
  readonly name: string;
  readonly bridge: string;
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    if (isNotExist(error)) return false;
    throw error;
  }
}
