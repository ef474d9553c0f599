/** CEL's own functions: sizes and conversions. */
import { isUtf8 } from 'node:buffer';
import { Bytes } from '../bytes.js';
import { inRange, unsigned } from '../operators.js';
import { EvaluationError, isList, isMap, numberOf, Opaque, TypeValue, typeName, Uint } from '../values.js';
import type { CelFunction, Library } from './function.js';
import { decimal } from './number-text.js';

const truths: Readonly<Record<string, boolean>> = {
  ...{ true: true, True: true, TRUE: true, t: true, 1: true },
  ...{ false: false, False: false, FALSE: false, f: false, 0: false },
};

/** Towards zero. Throws `EvaluationError`. */
function whole(value: number | bigint): bigint {
  if (typeof value === 'bigint') return value;
  if (!Number.isFinite(value)) throw new EvaluationError('integer overflow');
  return BigInt(Math.trunc(value));
}

/** Throws `EvaluationError`. */
export function textOf({ data }: Bytes): string {
  if (isUtf8(data)) return data.toString();
  throw new EvaluationError('invalid UTF-8 in bytes, cannot convert to string');
}

const conversions: Library = {
  int(value) {
    if (value instanceof Opaque && !(value instanceof Uint)) return value.call?.('int', []);
    const number = numberOf(value ?? null);
    if (number !== undefined) return inRange(whole(number));
    return typeof value === 'string' && /^[+-]?\d{1,19}$/.test(value)
      ? inRange(BigInt(value.replace('+', '')))
      : undefined;
  },
  uint(value) {
    const number = numberOf(value ?? null);
    if (number !== undefined) return unsigned(whole(number));
    return typeof value === 'string' && /^\d{1,20}$/.test(value) ? unsigned(BigInt(value)) : undefined;
  },
  double(value) {
    const number = numberOf(value ?? null);
    if (number !== undefined) return Number(number);
    if (typeof value !== 'string') return undefined;
    if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(value)) return Number(value);
    const [, sign = '', name = ''] = /^([+-]?)(nan|inf|infinity)$/i.exec(value) ?? [];
    if (name === '') return undefined;
    return name.toLowerCase() === 'nan' ? Number.NaN : sign === '-' ? -Infinity : Infinity;
  },
  bool(value) {
    if (typeof value === 'boolean') return value;
    return typeof value === 'string' ? truths[value] : undefined;
  },
  bytes(value) {
    if (value instanceof Bytes) return value;
    return typeof value === 'string' ? new Bytes(Buffer.from(value)) : undefined;
  },
  string(value) {
    if (typeof value === 'string') return value;
    if (value instanceof Uint) return value.value.toString();
    if (value instanceof Bytes) return textOf(value);
    if (value instanceof Opaque) return value.call?.('string', []);
    if (typeof value === 'number') return decimal(value);
    return typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : undefined;
  },
};

function converting(type: string, convert: CelFunction): CelFunction {
  return (value, ...rest) => {
    if (value === undefined || rest.length > 0) return undefined;
    const converted = convert(value);
    if (converted !== undefined) return converted;
    throw new EvaluationError(`type conversion error from '${typeName(value)}' to '${type}'`);
  };
}

export const standard: Library = {
  dyn: (value) => value,
  type: (value) => (value === undefined ? undefined : new TypeValue(typeName(value))),
  size(value) {
    if (typeof value === 'string') return BigInt(Array.from(value).length);
    if (isList(value)) return BigInt(value.length);
    if (value instanceof Opaque) return value.size;
    return isMap(value) ? BigInt(value.size) : undefined;
  },
  ...Object.fromEntries(
    Object.entries(conversions).map(([type, convert]) => [type, converting(type, convert)]),
  ),
};
