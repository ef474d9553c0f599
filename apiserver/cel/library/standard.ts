/** CEL's own functions: sizes and conversions. */
import { inRange } from '../operators.js';
import { EvaluationError, isList, isMap, Opaque, typeName } from '../values.js';
import type { CelFunction, Library } from './function.js';

const truths: Readonly<Record<string, boolean>> = {
  ...{ true: true, True: true, TRUE: true, t: true, 1: true },
  ...{ false: false, False: false, FALSE: false, f: false, 0: false },
};

const conversions: Library = {
  int(value) {
    if (typeof value === 'bigint') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return inRange(BigInt(Math.trunc(value)));
    return typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? inRange(BigInt(value)) : undefined;
  },
  uint(value) {
    const whole = conversions['int']?.(value);
    return typeof whole === 'bigint' && whole >= 0n ? whole : undefined;
  },
  double(value) {
    if (typeof value === 'bigint' || typeof value === 'number') return Number(value);
    return typeof value === 'string' && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)
      ? Number(value)
      : undefined;
  },
  bool(value) {
    if (typeof value === 'boolean') return value;
    return typeof value === 'string' ? truths[value] : undefined;
  },
  string(value) {
    if (typeof value === 'string') return value;
    if (value instanceof Opaque) return value.call?.('string', []);
    return typeof value === 'bigint' || typeof value === 'boolean' || typeof value === 'number'
      ? String(value)
      : undefined;
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
  type: (value) => (value === undefined ? undefined : typeName(value)),
  size(value) {
    if (typeof value === 'string') return BigInt(Array.from(value).length);
    if (isList(value)) return BigInt(value.length);
    return isMap(value) ? BigInt(value.size) : undefined;
  },
  ...Object.fromEntries(
    Object.entries(conversions).map(([type, convert]) => [type, converting(type, convert)]),
  ),
};
