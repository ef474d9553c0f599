import { createHash } from 'node:crypto';
import type {
  Interface,
  Network,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { failure } from '../errors.js';
import {
  conventional,
  device,
  escapeComma,
  express,
  option,
  virtioDevice,
  type MachineContext,
  type Part,
  type Properties,
} from './model.js';

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

/** The interfaces of a VMI; one on the pod network where it names none and does not refuse it. */
export function interfacesOf({ spec }: VirtualMachineInstance): readonly Interface[] {
  const { interfaces, autoattachPodInterface } = spec.domain.devices;
  if (interfaces !== undefined && interfaces.length > 0) {
    return interfaces.filter(({ state }) => state !== 'absent');
  }
  return autoattachPodInterface === false ? [] : [{ name: 'default', masquerade: {} }];
}

/** User-mode networking for every interface: the guest reaches out, nothing reaches in. */
export function networkParts(context: MachineContext): Part[] {
  const { vmi } = context;
  const networks = new Map((vmi.spec.networks ?? []).map((network) => [network.name, network]));
  return interfacesOf(vmi).flatMap((entry) => [
    option('netdev', userNetwork(entry, networks.get(entry.name))),
    interfaceDevice(context, entry),
  ]);
}

function userNetwork({ name }: Interface, network: Network | undefined): string {
  const words = ['user', `id=${netdevId(name)}`];
  const { vmNetworkCIDR, vmIPv6NetworkCIDR } = network?.pod ?? {};
  if (vmNetworkCIDR) words.push(`net=${escapeComma(vmNetworkCIDR)}`);
  if (vmIPv6NetworkCIDR) words.push(`ipv6-net=${escapeComma(vmIPv6NetworkCIDR)}`);
  return words.join(',');
}

function interfaceDevice(context: MachineContext, entry: Interface): Part {
  const { vmi } = context;
  const properties: Properties = {
    netdev: netdevId(entry.name),
    mac: entry.macAddress ?? stableMac(vmi.metadata.uid, entry.name),
    // Without a boot order the network boot ROM only costs time.
    ...(entry.bootOrder === undefined ? { romfile: '' } : { bootindex: entry.bootOrder }),
    ...(entry.acpiIndex === undefined ? {} : { 'acpi-index': entry.acpiIndex }),
  };
  const id = `net-${entry.name}`;
  const model = entry.model ?? 'virtio';
  if (model === 'virtio') return virtioDevice(context, 'net', id, 'network', properties);
  if (!hasOwn(models, model)) {
    const known = ['virtio', ...Object.keys(models)].join(', ');
    throw failure(
      'UnsupportedField',
      'spec.domain.devices.interfaces',
      `model ${model} is not one of ${known}`,
    );
  }
  const place = models[model] === 'express' ? express('network') : conventional('network');
  return device(model, id, place, properties);
}

export function netdevId(name: string): string {
  return `hostnet-${name}`;
}

/** A locally administered address, the same whenever this VMI starts. */
export function stableMac(uid: string, name: string): string {
  const digest = createHash('sha256').update(`${uid}/${name}`).digest();
  return ['02', ...[...digest.subarray(0, 5)].map((byte) => byte.toString(16).padStart(2, '0'))].join(':');
}
