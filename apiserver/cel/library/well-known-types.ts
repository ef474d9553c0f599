/** Protobuf's own types, which are values of CEL: `google.protobuf.Duration{seconds: 90}`. */
import { Bytes } from '../bytes.js';
import { EvaluationError, Uint, type Value } from '../values.js';
import { Duration, Timestamp } from './time.js';

type Fields = ReadonlyMap<string, Value>;

/** Zero unless it is set. */
function whole(fields: Fields, name: string): bigint {
  const value = fields.get(name) ?? 0n;
  if (typeof value === 'bigint') return value;
  throw new EvaluationError(`unsupported field type for ${name}`);
}

const nanos = (fields: Fields): bigint => whole(fields, 'seconds') * 1_000_000_000n + whole(fields, 'nanos');

/** Types that hold one value, and what it is unless it is set. */
const wrappers: Readonly<Record<string, Value>> = {
  BoolValue: false,
  BytesValue: new Bytes(Buffer.alloc(0)),
  DoubleValue: 0,
  FloatValue: 0,
  Int32Value: 0n,
  Int64Value: 0n,
  StringValue: '',
  UInt32Value: new Uint(0n),
  UInt64Value: new Uint(0n),
};

const types: Readonly<Record<string, (fields: Fields) => Value>> = {
  Duration: (fields) => new Duration(nanos(fields)),
  Timestamp: (fields) => new Timestamp(nanos(fields)),
  ...Object.fromEntries(
    Object.entries(wrappers).map(([name, initial]) => [
      name,
      (fields: Fields) => fields.get('value') ?? initial,
    ]),
  ),
};

const prefix = 'google.protobuf.';

export function isWellKnown(name: string): boolean {
  return name.startsWith(prefix) && Object.hasOwn(types, name.slice(prefix.length));
}

/** Throws `EvaluationError`. */
export function wellKnownValue(name: string, fields: Fields): Value {
  const make = types[name.slice(prefix.length)];
  if (make === undefined) throw new EvaluationError(`unknown type: ${name}`);
  return make(fields);
}
