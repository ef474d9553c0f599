import type { Interface, Network } from '../../openapi/generated/types/kubevirt_v1.js';
import { guestMac, interfacesOf } from '../../openapi/launcher/interfaces.js';
import { failure } from '../errors.js';
import { topology, vcpus } from './cpu.js';
import { virtualFunction } from './host-devices.js';
import type { Host } from './host.js';
import {
  command,
  conventional,
  device,
  escapeComma,
  express,
  option,
  virtioDevice,
  type MachineContext,
  type Part,
  type Place,
  type Properties,
  type Tap,
} from './model.js';
import { pciAddress } from './pci-address.js';

/** Interface models beside virtio, with where they plug in. */
const models = {
  e1000: 'conventional',
  e1000e: 'express',
  igb: 'express',
  ne2k_pci: 'conventional',
  pcnet: 'conventional',
  rtl8139: 'conventional',
} as const;

const hasOwn = <T extends object>(table: T, key: PropertyKey): key is keyof T => Object.hasOwn(table, key);

/** The most queue pairs of a tap device. */
const maxQueues = 256;

export function networkParts(context: MachineContext): Part[] {
  const { vmi, host } = context;
  const networks = new Map((vmi.spec.networks ?? []).map((network) => [network.name, network]));
  return interfacesOf(vmi).flatMap((entry, index) => {
    const path = `spec.domain.devices.interfaces[${index}]`;
    if (entry.sriov) return [virtualFunctionDevice(entry, host, path)];
    const network = networks.get(entry.name);
    const tap = context.taps.get(entry.name);
    const stream = context.streams?.get(entry.name);
    if (!tap && stream === undefined) requireUserMode(entry, network, path);
    const queues = tap?.queues ?? (stream === undefined ? queuePairs(context, entry) : 1);
    const backend = tap ? tapNetwork(entry, tap, queues) : streamNetwork(entry, stream);
    return [
      option('netdev', backend ?? userNetwork(entry, network)),
      interfaceDevice(context, entry, queues, path),
      ...(entry.state === 'down' ? [command('set_link', { name: interfaceId(entry), up: false })] : []),
    ];
  });
}

/** Refuses what user-mode networking cannot stand in for. */
function requireUserMode(
  { binding, dhcpOptions }: Interface,
  network: Network | undefined,
  path: string,
): void {
  if (network?.multus) {
    const why = `the pod is not on the network ${network.multus.networkName}`;
    throw failure('UnsupportedField', `spec.networks (${network.name}) multus`, why);
  }
  if (binding) {
    throw failure(
      'UnsupportedField',
      `${path}.binding`,
      `the plugin ${binding.name} has made no device in the pod`,
    );
  }
  for (const option of ['ntpServers', 'privateOptions'] as const) {
    if (dhcpOptions?.[option]?.length) {
      throw failure(
        'UnsupportedField',
        `${path}.dhcpOptions.${option}`,
        'user-mode networking cannot tell them',
      );
    }
  }
}

/** As many queues as virtual CPUs, where the spec asks for it. */
function queuePairs({ vmi }: MachineContext, { model = 'virtio' }: Interface): number {
  const { domain } = vmi.spec;
  if (!domain.devices.networkInterfaceMultiqueue || model !== 'virtio') return 1;
  return Math.min(maxQueues, vcpus(topology(domain)));
}

/** User-mode networking: the guest reaches out, nothing reaches in. */
function userNetwork({ name, dhcpOptions }: Interface, network: Network | undefined): string {
  const { bootFileName, tftpServerName } = dhcpOptions ?? {};
  const words = ['user', `id=${netdevId(name)}`];
  if (bootFileName) words.push(`bootfile=${escapeComma(bootFileName)}`);
  if (tftpServerName) words.push(`tftp-server-name=${escapeComma(tftpServerName)}`);
  const { vmNetworkCIDR, vmIPv6NetworkCIDR } = network?.pod ?? {};
  if (vmNetworkCIDR) words.push(`net=${escapeComma(vmNetworkCIDR)}`);
  if (vmIPv6NetworkCIDR) words.push(`ipv6-net=${escapeComma(vmIPv6NetworkCIDR)}`);
  return words.join(',');
}

function tapNetwork({ name }: Interface, { device: ifname, vhost }: Tap, queues: number): string {
  const words = [
    'tap',
    `id=${netdevId(name)}`,
    `ifname=${escapeComma(ifname)}`,
    'script=no',
    'downscript=no',
  ];
  if (queues > 1) words.push(`queues=${queues}`);
  if (vhost) words.push('vhost=on');
  return words.join(',');
}

function streamNetwork({ name }: Interface, socket: string | undefined): string | undefined {
  if (socket === undefined) return undefined;
  return `stream,id=${netdevId(name)},server=off,addr.type=unix,addr.path=${escapeComma(socket)}`;
}

function interfaceDevice(context: MachineContext, entry: Interface, queues: number, path: string): Part {
  const model = entry.model ?? 'virtio';
  const tap = context.taps.get(entry.name);
  const properties: Properties = {
    netdev: netdevId(entry.name),
    mac: tap?.mac ?? guestMac(context.vmi, entry),
    ...bootProperties(entry),
    // A vector for each queue, one for changes and one for control.
    ...(model === 'virtio' && tap?.mtu !== undefined ? { host_mtu: tap.mtu } : {}),
    ...(queues > 1 ? { mq: true, vectors: 2 * queues + 2 } : {}),
  };
  const id = interfaceId(entry);
  const address =
    entry.pciAddress === undefined ? undefined : pciAddress(`${path}.pciAddress`, entry.pciAddress);
  if (model === 'virtio') return virtioDevice(context, 'net', id, address ?? 'network', properties);
  if (!hasOwn(models, model)) {
    const known = ['virtio', ...Object.keys(models)].join(', ');
    throw failure('UnsupportedField', `${path}.model`, `${model} is not one of ${known}`);
  }
  const place = models[model] === 'express' ? express('network') : conventional('network');
  return device(model, id, address === undefined ? place : { kind: 'address', address }, properties);
}

/** Without a boot order the network boot ROM only costs time. */
function bootProperties({ bootOrder, acpiIndex }: Interface): Properties {
  return {
    ...(bootOrder === undefined ? { romfile: '' } : { bootindex: bootOrder }),
    ...(acpiIndex === undefined ? {} : { 'acpi-index': acpiIndex }),
  };
}

function virtualFunctionDevice(entry: Interface, { environment }: Host, path: string): Part {
  const address = virtualFunction(environment, entry.name);
  if (address === undefined) {
    const why = `the pod has no virtual function for ${entry.name} (KUBEVIRT_RESOURCE_NAME_${entry.name})`;
    throw failure('UnsupportedField', `${path}.sriov`, why);
  }
  const place: Place =
    entry.pciAddress === undefined
      ? express('host')
      : { kind: 'address', address: pciAddress(`${path}.pciAddress`, entry.pciAddress) };
  return device('vfio-pci', `sriov-${entry.name}`, place, { host: address, ...bootProperties(entry) });
}

export const interfaceId = ({ name }: Pick<Interface, 'name'>) => `net-${name}`;

export function netdevId(name: string): string {
  return `hostnet-${name}`;
}
