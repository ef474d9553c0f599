/** Arithmetic on Kubernetes quantities (`100m`, `1.5Gi`, `12e6`): exact, in whole nano units. */
import type { Quantity } from './meta.js';

/** How a quantity was written, which decides how it is written again. */
export type QuantityFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent';

export interface ParsedQuantity {
  /** The value in 1e-9 units. What is finer is rounded away from zero, so that something never becomes nothing. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

export class QuantityError extends Error {
  override readonly name = 'QuantityError';
}

const nanosPerUnit = 1_000_000_000n;
/** Longer than any useful quantity; keeps a hostile one from costing time. */
const maximumLength = 128;
/** Beyond this a decimal exponent is a mistake: 1e64 of anything. */
const maximumExponent = 64;
/** Binary quantities are capped at the largest signed 64-bit integer. */
const maximumBinary = (1n << 63n) - 1n;

const grammar = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([KMGTPE])i|([numkMGTPE])|[eE]([+-]?\d+))?$/;
const decimalExponents: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const decimalSuffixes = new Map(Object.entries(decimalExponents).map(([suffix, power]) => [power, suffix]));
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

/** The newest texts that were parsed: an object's are looked at many times, and objects mostly have the same few. */
const parsed = new Map<string, ParsedQuantity>();
const mostParsed = 1000;

/** Throws `QuantityError` if it is not a quantity. */
export function parseQuantity(quantity: Quantity): ParsedQuantity {
  const text = String(quantity);
  let known = parsed.get(text);
  if (known === undefined) {
    known = parse(text);
    if (parsed.size >= mostParsed) parsed.clear();
    parsed.set(text, known);
  }
  return known;
}

function parse(text: string): ParsedQuantity {
  const match = text.length <= maximumLength ? grammar.exec(text) : null;
  if (match === null) {
    const shown = text.length <= maximumLength ? text : `${text.slice(0, maximumLength)}…`;
    throw new QuantityError(
      `quantities must be a number with an optional suffix such as m, k, M, Mi, Gi or e3; got ${JSON.stringify(shown)}`,
    );
  }
  const [, sign, digits = '', binary, decimal, exponent] = match;
  const format: QuantityFormat =
    binary !== undefined ? 'BinarySI' : exponent !== undefined ? 'DecimalExponent' : 'DecimalSI';
  const power = decimal === undefined ? Number(exponent ?? 0) : (decimalExponents[decimal] ?? 0);
  if (power > maximumExponent) {
    throw new QuantityError(`the exponent of ${JSON.stringify(text)} is above ${maximumExponent}`);
  }
  const multiplier = binary === undefined ? 1n : 1024n ** BigInt('KMGTPE'.indexOf(binary) + 1);
  const magnitude = scale(digits, power, multiplier);
  return normalise(sign === '-' ? -magnitude : magnitude, format);
}

/** `digits × 10^power × multiplier` in nano units, rounded up. */
function scale(digits: string, power: number, multiplier: bigint): bigint {
  const [whole = '', fraction = ''] = digits.split('.');
  const mantissa = BigInt(`${whole}${fraction}` || '0') * multiplier;
  const shift = 9 + power - fraction.length;
  if (shift >= 0) return mantissa * 10n ** BigInt(shift);
  // All digits lie below one nano unit, however small the exponent.
  if (-shift > maximumLength + 32) return mantissa === 0n ? 0n : 1n;
  const divisor = 10n ** BigInt(-shift);
  return (mantissa + divisor - 1n) / divisor;
}

function normalise(nanos: bigint, format: QuantityFormat): ParsedQuantity {
  if (format !== 'BinarySI') return { nanos, format };
  const cap = maximumBinary * nanosPerUnit;
  if (nanos > cap) return { nanos: cap, format };
  // A fraction of one has no binary form.
  if (nanos > 0n && nanos < nanosPerUnit) return { nanos, format: 'DecimalSI' };
  return { nanos, format };
}

export function isQuantity(value: unknown): value is Quantity {
  if (typeof value !== 'string' && typeof value !== 'number') return false;
  try {
    parseQuantity(value);
    return true;
  } catch (error) {
    if (error instanceof QuantityError) return false;
    throw error;
  }
}

/** The canonical text: no fraction, no trailing zeros that a suffix can express, `1.5Gi` as `1536Mi`. */
export function formatQuantity({ nanos, format }: ParsedQuantity): string {
  if (nanos === 0n) return '0';
  const sign = nanos < 0n ? '-' : '';
  const magnitude = nanos < 0n ? -nanos : nanos;
  if (format === 'BinarySI' && magnitude >= 1024n * nanosPerUnit) return sign + formatBinary(magnitude);
  return sign + formatDecimal(magnitude, format === 'DecimalExponent');
}

function formatBinary(magnitude: bigint): string {
  let value = (magnitude + nanosPerUnit - 1n) / nanosPerUnit;
  let step = 0;
  while (step < binarySuffixes.length - 1 && value % 1024n === 0n) {
    value /= 1024n;
    step++;
  }
  return `${value}${binarySuffixes[step] ?? ''}`;
}

function formatDecimal(magnitude: bigint, exponent: boolean): string {
  let value = magnitude;
  let power = -9;
  while (value % 1000n === 0n) {
    value /= 1000n;
    power += 3;
  }
  if (power === 0) return value.toString();
  const suffix = exponent ? undefined : decimalSuffixes.get(power);
  return `${value}${suffix ?? `e${power}`}`;
}

export function canonicalQuantity(quantity: Quantity): string {
  return formatQuantity(parseQuantity(quantity));
}

/** Negative, zero or positive, as for `Array.prototype.sort`. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  const [left, right] = [parseQuantity(a).nanos, parseQuantity(b).nanos];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** `a + b` in canonical form, written as `a` is (as `b` is if `a` is zero). */
export function addQuantities(a: Quantity, b: Quantity): string {
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  return formatQuantity(normalise(left.nanos + right.nanos, left.nanos === 0n ? right.format : left.format));
}

/** `a - b` in canonical form, written as `a` is (as `b` is if `a` is zero). */
export function subtractQuantities(a: Quantity, b: Quantity): string {
  const [left, right] = [parseQuantity(a), parseQuantity(b)];
  return formatQuantity(normalise(left.nanos - right.nanos, left.nanos === 0n ? right.format : left.format));
}

/** Whole units (bytes of memory, whole cores), rounded away from zero. Exact up to 2^53, nearest beyond. */
export function toUnits(quantity: Quantity): number {
  return Number(divideRoundingUp(parseQuantity(quantity).nanos, nanosPerUnit));
}

/** Bytes, rounded away from zero. Exact up to 2^53, nearest beyond. */
export const toBytes: (quantity: Quantity) => number = toUnits;

/** Thousandths (millicores), rounded away from zero. Exact up to 2^53, nearest beyond. */
export function toMillis(quantity: Quantity): number {
  return Number(divideRoundingUp(parseQuantity(quantity).nanos, 1_000_000n));
}

function divideRoundingUp(nanos: bigint, divisor: bigint): bigint {
  const magnitude = nanos < 0n ? -nanos : nanos;
  const quotient = (magnitude + divisor - 1n) / divisor;
  return nanos < 0n ? -quotient : quotient;
}

/** So many bytes as a binary quantity: 536870912 → `512Mi`. */
export function bytesToQuantity(bytes: number): string {
  return formatQuantity({ nanos: BigInt(Math.ceil(bytes)) * nanosPerUnit, format: 'BinarySI' });
}
