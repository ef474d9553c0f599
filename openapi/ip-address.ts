/** IPv4 and IPv6 addresses and ranges, as text and as bytes. */
import { isIPv4, isIPv6 } from 'node:net';

export type AddressFamily = 4 | 6;

export interface AddressRange {
  readonly family: AddressFamily;
  /** The address as it was written, host bits included. */
  readonly address: bigint;
  readonly network: bigint;
  readonly prefixLength: number;
}

const bitsOf = (family: AddressFamily): number => (family === 4 ? 32 : 128);

export function familyOf(address: string): AddressFamily {
  return isIPv4(address) ? 4 : 6;
}

/** Network byte order: 4 or 16 bytes. Throws `RangeError`. */
export function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  if (!isIPv6(address) || address.includes('%')) throw new RangeError(`"${address}" is no IP address`);
  const [head = '', tail] = address.split('::');
  const first = groups(head);
  const last = groups(tail ?? '');
  const zeros = tail === undefined ? 0 : 16 - first.length - last.length;
  return Buffer.from([...first, ...new Array<number>(zeros).fill(0), ...last]);
}

/** The bytes of colon-separated groups, the last of which may be an IPv4 address. */
function groups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (isIPv4(group)) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** @param bytes 4 or 16; IPv6 as RFC 5952 writes it. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  const words = Array.from({ length: 8 }, (_, index) =>
    (((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0)).toString(16),
  );
  const { start, length } = longestZeros(words);
  if (length < 2) return words.join(':');
  return `${words.slice(0, start).join(':')}::${words.slice(start + length).join(':')}`;
}

function longestZeros(words: readonly string[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < words.length; start++) {
    let length = 0;
    while (words[start + length] === '0') length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}

const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`);

function textOf(family: AddressFamily, address: bigint): string {
  return addressText(Buffer.from(address.toString(16).padStart(bitsOf(family) / 4, '0'), 'hex'));
}

/** `10.0.2.0/24`; without a length the one address. Throws `RangeError`. */
export function parseRange(text: string): AddressRange {
  const [address = '', length, ...more] = text.split('/');
  const bytes = addressBytes(address);
  const family = familyOf(address);
  const bits = bitsOf(family);
  const prefixLength = length === undefined ? bits : Number(length);
  if (more.length > 0 || !/^\d+$/.test(length ?? '0') || prefixLength > bits)
    throw new RangeError(`"${text}" is no range of IP addresses such as 10.0.2.0/24`);
  const hostBits = BigInt(bits - prefixLength);
  const value = numberOf(bytes);
  return { family, address: value, network: (value >> hostBits) << hostBits, prefixLength };
}

/** How many addresses the range has. */
export function sizeOf({ family, prefixLength }: AddressRange): bigint {
  return 1n << BigInt(bitsOf(family) - prefixLength);
}

/** The address `index` places after the range's first. */
export function addressAt({ family, network }: AddressRange, index: number | bigint): string {
  return textOf(family, network + BigInt(index));
}

export function networkText(range: AddressRange): string {
  return `${addressAt(range, 0)}/${range.prefixLength}`;
}

export function contains(range: AddressRange, address: string): boolean {
  const { family, network, prefixLength } = range;
  if (familyOf(address) !== family) return false;
  const hostBits = BigInt(bitsOf(family) - prefixLength);
  return numberOf(addressBytes(address)) >> hostBits === network >> hostBits;
}

/** `255.255.255.0` for 24. */
export function ipv4Mask(prefixLength: number): string {
  return textOf(4, (0xffffffffn << BigInt(32 - prefixLength)) & 0xffffffffn);
}
