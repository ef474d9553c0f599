/** IP addresses and their ranges: `cidr("10.0.0.0/8").containsIP(ip("10.1.2.3"))`. */
import { isIPv4, isIPv6 } from 'node:net';
import { EvaluationError, Opaque, type Value } from '../values.js';
import { onText, type Library } from './function.js';

/** The address as one number. */
function bitsOf(text: string): bigint | undefined {
  if (isIPv4(text)) return text.split('.').reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
  // Kubernetes takes neither zones nor IPv4 in IPv6.
  if (!isIPv6(text) || /[%.]/.test(text)) return undefined;
  const [head = '', tail] = text.split('::');
  const groups = (half: string): string[] => (half === '' ? [] : half.split(':'));
  const missing = 8 - groups(head).length - groups(tail ?? '').length;
  const all = [
    ...groups(head),
    ...Array<string>(tail === undefined ? 0 : missing).fill('0'),
    ...groups(tail ?? ''),
  ];
  return all.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

/** As RFC 5952 writes it. */
function textOf(bits: bigint, family: 4 | 6): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => ((bits >> shift) & 0xffn).toString()).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => (bits >> BigInt(16 * (7 - index))) & 0xffffn);
  const text = groups.map((group) => group.toString(16)).join(':');
  const zeros = [...text.matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)].sort((a, b) => b[0].length - a[0].length)[0];
  if (zeros === undefined) return text;
  const [before, after] = [text.slice(0, zeros.index), text.slice(zeros.index + zeros[0].length)];
  return `${before}::${after.replace(/^:/, '')}`;
}

class Address extends Opaque {
  readonly type = 'net.IP';

  constructor(
    readonly bits: bigint,
    readonly family: 4 | 6,
  ) {
    super();
  }

  override equals(other: Value): boolean {
    return other instanceof Address && other.family === this.family && other.bits === this.bits;
  }

  override call(name: string, values: readonly Value[]): Value | undefined {
    if (values.length > 0) return undefined;
    const inside = (v4: string, v6: string): boolean => range(this.family === 4 ? v4 : v6).contains(this);
    const multicast = inside('224.0.0.0/4', 'ff00::/8');
    const linkLocal = inside('169.254.0.0/16', 'fe80::/10');
    switch (name) {
      case 'family':
        return BigInt(this.family);
      case 'string':
        return textOf(this.bits, this.family);
      case 'isUnspecified':
        return this.bits === 0n;
      case 'isLoopback':
        return inside('127.0.0.0/8', '::1/128');
      case 'isLinkLocalMulticast':
        return inside('224.0.0.0/24', 'ff02::/16');
      case 'isLinkLocalUnicast':
        return linkLocal;
      case 'isGlobalUnicast':
        return (
          this.bits !== 0n &&
          !multicast &&
          !linkLocal &&
          !inside('127.0.0.0/8', '::1/128') &&
          !inside('255.255.255.255/32', '::/128')
        );
      default:
        return undefined;
    }
  }
}

class Range extends Opaque {
  readonly type = 'net.CIDR';

  constructor(
    readonly address: Address,
    readonly prefix: number,
  ) {
    super();
  }

  override equals(other: Value): boolean {
    return other instanceof Range && other.prefix === this.prefix && this.address.equals(other.address);
  }

  contains({ bits, family }: Address): boolean {
    return family === this.address.family && bits >> this.#host() === this.address.bits >> this.#host();
  }

  override call(name: string, [other]: readonly Value[]): Value | undefined {
    switch (name) {
      case 'containsIP': {
        const address = typeof other === 'string' ? parseAddress(other) : other;
        return address instanceof Address ? this.contains(address) : undefined;
      }
      case 'containsCIDR': {
        const inner = typeof other === 'string' ? parseRange(other) : other;
        return inner instanceof Range
          ? inner.prefix >= this.prefix && this.contains(inner.address)
          : undefined;
      }
      case 'ip':
        return this.address;
      case 'masked':
        return new Range(
          new Address((this.address.bits >> this.#host()) << this.#host(), this.address.family),
          this.prefix,
        );
      case 'prefixLength':
        return BigInt(this.prefix);
      case 'string':
        return `${textOf(this.address.bits, this.address.family)}/${this.prefix}`;
      default:
        return undefined;
    }
  }

  /** How many bits are free. */
  #host(): bigint {
    return BigInt((this.address.family === 4 ? 32 : 128) - this.prefix);
  }
}

function parseAddress(text: string): Address | undefined {
  const bits = bitsOf(text);
  return bits === undefined ? undefined : new Address(bits, isIPv4(text) ? 4 : 6);
}

function parseRange(text: string): Range | undefined {
  const [, address = '', prefix = ''] = /^([^/]*)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const parsed = parseAddress(address);
  if (parsed === undefined || Number(prefix) > (parsed.family === 4 ? 32 : 128)) return undefined;
  return new Range(parsed, Number(prefix));
}

function addressOf(text: string): Address {
  const parsed = parseAddress(text);
  if (parsed !== undefined) return parsed;
  const quoted = JSON.stringify(text);
  if (isIPv6(text)) {
    throw new EvaluationError(
      text.includes('%')
        ? `IP address ${quoted} with zone value is not allowed`
        : `IPv4-mapped IPv6 address ${quoted} is not allowed`,
    );
  }
  throw new EvaluationError(
    `IP Address ${quoted} parse error during conversion from string: ParseAddr(${quoted}): unable to parse IP`,
  );
}

function rangeFault(text: string): string {
  const [address = '', prefix] = text.split('/');
  if (prefix === undefined) return "no '/'";
  if (parseAddress(address) === undefined) return `ParseAddr(${JSON.stringify(address)}): unable to parse IP`;
  return /^\d+$/.test(prefix) && !prefix.startsWith('0')
    ? 'prefix length out of range'
    : `bad bits after slash: ${JSON.stringify(prefix)}`;
}

function range(text: string): Range {
  const parsed = parseRange(text);
  if (parsed !== undefined) return parsed;
  const twice = 'network address parse error during conversion from string';
  throw new EvaluationError(
    `${twice}: ${twice}: netip.ParsePrefix(${JSON.stringify(text)}): ${rangeFault(text)}`,
  );
}

export const addresses: Library = {
  isIP: onText((text) => parseAddress(text) !== undefined),
  ip: onText(addressOf),
  'ip.isCanonical': onText((text) => addressOf(text).call('string', []) === text),
  isCIDR: onText((text) => parseRange(text) !== undefined),
  cidr: onText(range),
};
