/** Makes the networks of a pod's guest, binding by binding, in the pod's namespace. */
import type {
  Interface,
  Network,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { vcpus } from '../../openapi/cpu-topology.js';
import { guestMac, interfacesOf } from '../../openapi/launcher/interfaces.js';
import type { LauncherInterface, LauncherNetwork } from '../../openapi/launcher/network.js';
import { bridge, handOver } from './bridge.js';
import { namespaceCommands, type Commands } from './commands.js';
import { endRelay, ensureRelay } from './icmp-relay.js';
import {
  NetworkError,
  type GuestNetworkRequest,
  type GuestNetworks as GuestNetworksContract,
} from './interface.js';
import { batch, ensureLinks, globalAddresses, readLinks, readRoutes, type Link } from './links.js';
import { masquerade, type BindingInput } from './masquerade.js';
import { bridgeName, podInterface, tapName } from './names.js';
import { bridgeTable, translationTable, type BridgedGuest, type TranslatedGuest } from './nftables.js';
import { PodStates, type HandedOver } from './state.js';

/** Loopback ports of the ICMPv6 relays, two for each interface. */
const firstRelayPort = 58_001;

export class GuestNetworks implements GuestNetworksContract {
  private readonly states: PodStates;

  /** @param directory this agent's own, which no launcher can write to */
  constructor(directory: string) {
    this.states = new PodStates(directory);
  }

  async setUp(request: GuestNetworkRequest, signal: AbortSignal): Promise<LauncherNetwork> {
    const commands = namespaceCommands(request.namespace, signal);
    const setup = new Setup(request, commands, await readLinks(commands), this.states);
    return setup.run();
  }

  async tearDown(podUid: string): Promise<void> {
    const { relays } = await this.states.read(podUid);
    for (const identity of Object.values(relays)) await endRelay(identity);
    await this.states.remove(podUid);
  }

  async retain(podUids: ReadonlySet<string>): Promise<void> {
    for (const uid of await this.states.list()) if (!podUids.has(uid)) await this.tearDown(uid);
  }
}

/** One pass over a VMI's interfaces. */
class Setup {
  private readonly translated: TranslatedGuest[] = [];
  private readonly bridged: BridgedGuest[] = [];
  private readonly networks: readonly Network[];

  constructor(
    private readonly request: GuestNetworkRequest,
    private readonly commands: Commands,
    private readonly present: readonly Link[],
    private readonly states: PodStates,
  ) {
    this.networks = request.vmi.spec.networks ?? [];
  }

  async run(): Promise<LauncherNetwork> {
    const { vmi } = this.request;
    const made: Record<string, LauncherInterface> = {};
    await this.allowServing();
    for (const [index, entry] of interfacesOf(vmi).entries()) {
      const network = this.networks.find(({ name }) => name === entry.name);
      const done = await this.bind(entry, network, index);
      if (done !== undefined) made[entry.name] = done;
    }
    if (this.translated.length > 0) await this.nft(translationTable(this.translated));
    if (this.bridged.length > 0) await this.nft(bridgeTable(this.bridged));
    await this.startRelays(made);
    return { interfaces: made };
  }

  /** The launcher answers DHCP, passt serves any port of the pod and pings, without privileges; the pod passes packets on. */
  private async allowServing(): Promise<void> {
    const settings = [
      'net.ipv4.ip_unprivileged_port_start=0',
      'net.ipv4.ip_forward=1',
      'net.ipv4.ping_group_range=0 2147483647',
      ...(this.hasIPv6() ? ['net.ipv6.conf.all.forwarding=1'] : []),
    ];
    await this.commands.run('sysctl', ['-q', '-w', ...settings]);
  }

  private hasIPv6(): boolean {
    return this.present.some(({ addr_info: addresses }) =>
      addresses.some(({ family }) => family === 'inet6'),
    );
  }

  private async bind(
    entry: Interface,
    network: Network | undefined,
    index: number,
  ): Promise<LauncherInterface | undefined> {
    const { vmi, pod, user } = this.request;
    // The device plugin has given it a device of its own.
    if (entry.sriov) return undefined;
    const device = podInterface(pod, network, this.networks);
    const link = this.present.find(({ ifname }) => ifname === device);
    if (link === undefined) {
      throw new NetworkError(`the pod has no interface ${device}, which network ${entry.name} needs`);
    }
    if (entry.passtBinding ?? entry.passt) {
      const addresses = globalAddresses(link).map(({ local }) => local);
      return { kind: 'passt', mac: guestMac(vmi, entry), podInterface: device, addresses };
    }
    const tap = tapName(network);
    if (entry.binding) return this.pluginTap(entry, tap, link);
    const ports = firstRelayPort + 2 * index;
    const input: BindingInput = {
      entry,
      pod: network?.pod,
      tap,
      bridge: bridgeName(network),
      user,
      queues: guestQueues(vmi, entry),
      mac: guestMac(vmi, entry),
      icmp: { send: ports, receive: ports + 1 },
    };
    return entry.bridge ? this.bindBridge(input, link, index) : this.bindMasquerade(input, link);
  }

  /** What a binding plugin of domain attachment type `tap` has made. */
  private pluginTap(entry: Interface, tap: string, link: Link): LauncherInterface {
    if (!this.present.some(({ ifname }) => ifname === tap)) {
      const plugin = entry.binding?.name ?? '';
      throw new NetworkError(
        `the binding plugin ${plugin} of network ${entry.name} has made no device ${tap}`,
      );
    }
    const mac = guestMac(this.request.vmi, entry);
    const addresses = globalAddresses(link).map(({ local }) => local);
    return { kind: 'tap', device: tap, mac, mtu: link.mtu, queues: 1, podInterface: link.ifname, addresses };
  }

  private async bindMasquerade(input: BindingInput, link: Link): Promise<LauncherInterface> {
    const facts = { podInterface: link.ifname, mtu: link.mtu, addresses: globalAddresses(link) };
    const { links, translated, tap } = masquerade(input, facts);
    await ensureLinks(this.commands, this.present, links);
    this.translated.push(translated);
    return tap;
  }

  private async bindBridge(input: BindingInput, link: Link, index: number): Promise<LauncherInterface> {
    const given = await this.handedOver(link);
    const mac = input.entry.macAddress === undefined ? given.mac : input.mac;
    const { links, routes, tap } = bridge({ ...input, mac }, link.ifname, link.mtu, given, index);
    if (given.addresses.length > 0)
      await batch(this.commands, [`address flush dev ${link.ifname} scope global`]);
    await ensureLinks(this.commands, this.present, links);
    await batch(this.commands, routes);
    if (tap.ipv4 !== undefined) {
      const bridgeMac = links.find(({ name }) => name === input.bridge)?.mac ?? '';
      this.bridged.push({ tap: input.tap, server: tap.ipv4.server, bridgeMac });
    }
    return tap;
  }

  /** What the interface had before its addresses became the guest's: written down before anything is taken from it. */
  private async handedOver(link: Link): Promise<HandedOver> {
    const { uid } = this.request.pod.metadata;
    const state = await this.states.read(uid);
    const known = state.handedOver[link.ifname];
    if (known !== undefined) return known;
    const given = handOver(link, await readRoutes(this.commands, link.ifname));
    await this.states.write(uid, { ...state, handedOver: { ...state.handedOver, [link.ifname]: given } });
    return given;
  }

  private async nft(rules: string): Promise<void> {
    await this.commands.run('nft', ['-f', '-'], rules);
  }

  private async startRelays(made: Readonly<Record<string, LauncherInterface>>): Promise<void> {
    const { pod, namespace } = this.request;
    for (const each of Object.values(made)) {
      if (each.kind !== 'tap' || each.ipv6 === undefined) continue;
      const state = await this.states.read(pod.metadata.uid);
      const known = state.relays[each.ipv6.bridge];
      const identity = await ensureRelay(namespace, each.ipv6.bridge, each.ipv6.icmp, known);
      if (identity.pid === known?.pid) continue;
      const { pid, startTime, bootId } = identity;
      const relays = { ...state.relays, [each.ipv6.bridge]: { pid, startTime, bootId } };
      await this.states.write(pod.metadata.uid, { ...state, relays });
    }
  }
}

/** The most queues of a tap device. */
const maximumQueues = 256;

/** As many queue pairs as virtual CPUs, where the spec asks for it. */
function guestQueues({ spec: { domain } }: VirtualMachineInstance, { model = 'virtio' }: Interface): number {
  if (domain.devices.networkInterfaceMultiqueue !== true || model !== 'virtio') return 1;
  return Math.min(maximumQueues, vcpus(domain));
}

/** Whether a VMI needs anything of its pod's namespace. */
export function needsNetwork(vmi: VirtualMachineInstance): boolean {
  return interfacesOf(vmi).some(({ sriov }) => !sriov);
}
