import { failure } from '../errors.js';

/** A place on the guest's PCI buses, as `lspci` in the guest shows it; domain 0. */
export interface PciAddress {
  readonly bus: number;
  readonly slot: number;
  readonly fn: number;
}

const pattern = /^0000:([0-9a-f]{2}):([01][0-9a-f])\.([0-7])$/i;

/** @throws LauncherError `InvalidField` */
export function pciAddress(path: string, text: string): PciAddress {
  const [, bus, slot, fn] = pattern.exec(text) ?? [];
  if (bus === undefined || slot === undefined || fn === undefined) {
    throw failure('InvalidField', path, `${text} is not a PCI address of domain 0, such as 0000:81:01.0`);
  }
  return { bus: parseInt(bus, 16), slot: parseInt(slot, 16), fn: parseInt(fn, 16) };
}

export function hex(value: number): string {
  return `0x${value.toString(16)}`;
}
