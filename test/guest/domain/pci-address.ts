import type { Element } from './xml.js';

/** An `<address type='pci'>` as `lspci` writes it. */
export function pciAddressOf(address: Element | undefined): string {
  if (!address) return 'none';
  const part = (name: string, digits: number) =>
    Number(address.attributes[name]).toString(16).padStart(digits, '0');
  return `${part('domain', 4)}:${part('bus', 2)}:${part('slot', 2)}.${part('function', 1)}`;
}
