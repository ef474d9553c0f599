import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { MachineSettings } from '../../openapi/launcher/settings.js';
import type { DiskImage } from '../disks/image.js';
import type { Host } from './host.js';
import type { PciAddress } from './pci-address.js';

/**
 * What stands between a VMI and a QEMU command line. Each concern (cpu.ts, disks.ts …) is a pure function from
 * `MachineContext` to parts; `assemble.ts` gives PCI devices their addresses and renders the arguments.
 */
export interface MachineContext {
  readonly vmi: VirtualMachineInstance;
  readonly settings: MachineSettings;
  readonly accelerator: Accelerator;
  /** What the volumes became, by volume name. */
  readonly images: ReadonlyMap<string, DiskImage>;
  /** The flash images of an EFI machine. */
  readonly efi: EfiFiles | undefined;
  /** The files of `firmware.kernelBoot.container`, relative to the pod directory. */
  readonly kernel: KernelFiles | undefined;
  /** The tap devices of the pod's networks, by network name. A pod network without one is user-mode. */
  readonly taps: ReadonlyMap<string, Tap>;
  /** Sockets of what serves a network as a stream (passt), by network name. */
  readonly streams?: ReadonlyMap<string, string>;
  /** What the node gives to this machine. */
  readonly host: Host;
  /** Milliseconds since the epoch, for clocks that start at an offset. */
  readonly now: number;
}

export type Accelerator = 'kvm' | 'tcg';

export interface EfiFiles {
  readonly code: string;
  /** This machine's own copy; undefined where the firmware keeps none. */
  readonly variables: string | undefined;
}

export interface Tap {
  /** The name of the device in the pod's network namespace. */
  readonly device: string;
  /** Whether the kernel moves the packets (vhost-net). */
  readonly vhost: boolean;
  /** Queue pairs that the device was made for; as many as the spec asks for if undefined. */
  readonly queues?: number;
  /** Of the guest's interface, where the pod's network decides it. */
  readonly mac?: string;
  readonly mtu?: number;
}

export interface KernelFiles {
  readonly kernel: string | undefined;
  readonly initrd: string | undefined;
}

export type PropertyValue =
  string | number | boolean | readonly PropertyValue[] | { readonly [key: string]: PropertyValue };
export type Properties = Readonly<Record<string, PropertyValue>>;

/**
 * PCI devices are placed in this order, each behind a root port of its own; within a group in the order of the spec. It
 * is libvirt's, so that guests find their first network interface as `enp1s0` and keep its name when disks are added.
 */
export const pciGroups = [
  'network',
  'controller',
  'disk',
  'filesystem',
  'sound',
  'balloon',
  'rng',
  'vsock',
  'host',
  'watchdog',
  'panic',
  'input',
  'bridge',
] as const;
export type PciGroup = (typeof pciGroups)[number];

/** The id of q35's root bus. */
export const rootBus = 'pcie.0';

/** Where a device sits. `conventional` PCI devices share one bridge; `root` devices have a fixed slot on pcie.0. */
export type Place =
  | { readonly kind: 'express' | 'conventional'; readonly group: PciGroup }
  | { readonly kind: 'root'; readonly slot: number }
  /** Where the spec puts it. */
  | { readonly kind: 'address'; readonly address: PciAddress }
  /** `bus` and address are among the properties, or the device has none. */
  | { readonly kind: 'given' };

export interface DevicePart {
  readonly part: 'device';
  readonly driver: string;
  readonly id: string;
  readonly place: Place;
  readonly properties: Properties;
}

export type Part =
  | DevicePart
  /** A property of `-machine`. */
  | { readonly part: 'machine'; readonly name: string; readonly value: string }
  /** The `-cpu` model; exactly one. */
  | { readonly part: 'cpuModel'; readonly model: string }
  /** A property of `-cpu`. */
  | { readonly part: 'cpuProperty'; readonly name: string; readonly value: string }
  | { readonly part: 'object'; readonly type: string; readonly id: string; readonly properties: Properties }
  | { readonly part: 'blockdev'; readonly properties: Properties }
  /** Any other option, without its dash. `value` is taken as it is: escape names and paths with `escapeComma`. */
  | { readonly part: 'option'; readonly name: string; readonly value: string | undefined }
  | { readonly part: 'environment'; readonly name: string; readonly value: string }
  /** A QMP command for the machine that is made, before its guest runs: what no option can say. */
  | { readonly part: 'command'; readonly execute: string; readonly arguments: Properties };

export const machine = (name: string, value: string): Part => ({ part: 'machine', name, value });
export const cpuProperty = (name: string, value: string): Part => ({ part: 'cpuProperty', name, value });
export const option = (name: string, value?: string): Part => ({ part: 'option', name, value });
export const object = (type: string, id: string, properties: Properties = {}): Part => ({
  part: 'object',
  type,
  id,
  properties,
});
export const command = (execute: string, parameters: Properties): Part => ({
  part: 'command',
  execute,
  arguments: parameters,
});
export const device = (
  driver: string,
  id: string,
  place: Place,
  properties: Properties = {},
): DevicePart => ({ part: 'device', driver, id, place, properties });

export const given: Place = { kind: 'given' };
export const express = (group: PciGroup): Place => ({ kind: 'express', group });
export const conventional = (group: PciGroup): Place => ({ kind: 'conventional', group });

/**
 * A virtio device in the variant that the VMI asks for. Transitional ones speak legacy virtio as well and exist only as
 * conventional PCI devices.
 */
export function virtioDevice(
  context: MachineContext,
  kind: 'blk' | 'net' | 'scsi' | 'serial' | 'rng' | 'balloon',
  id: string,
  where: PciGroup | PciAddress,
  properties: Properties = {},
): DevicePart {
  const { devices, launchSecurity } = context.vmi.spec.domain;
  const transitional = devices.useVirtioTransitional ?? false;
  const variant = transitional ? 'transitional' : 'non-transitional';
  return device(`virtio-${kind}-pci-${variant}`, id, placeOf(where, transitional), {
    ...properties,
    // The device reaches encrypted memory only through the buffers that the guest shares with it.
    ...(launchSecurity ? { iommu_platform: true } : {}),
  });
}

function placeOf(where: PciGroup | PciAddress, transitional: boolean): Place {
  if (typeof where !== 'string') return { kind: 'address', address: where };
  return transitional ? conventional(where) : express(where);
}

/** Commas separate the fields of QEMU's option strings; doubled they stand for themselves. */
export function escapeComma(value: string): string {
  return value.replaceAll(',', ',,');
}

export function onOff(value: boolean): 'on' | 'off' {
  return value ? 'on' : 'off';
}
