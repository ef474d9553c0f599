/** The values of CEL, as JavaScript has them: `bigint` is an int, `number` a double; what JavaScript lacks is opaque. */
export type Key = string | bigint | boolean;
export type Value =
  null | boolean | string | bigint | number | readonly Value[] | ReadonlyMap<Key, Value> | Opaque;

/** A value of a type that documents do not have: a point in time, a quantity, an address. */
export abstract class Opaque {
  abstract readonly type: string;
  equals(other: Value): boolean {
    return other === this;
  }
  /** Less than 0 if this comes first; undefined: there is no order between them. */
  compare?(other: Value): number | undefined;
  /** Undefined: no such operation on these. */
  operate?(operator: string, other: Value): Value | undefined;
  /** How many there are of what this is made of. */
  readonly size?: bigint;
  /** Of a method; undefined: no such method for these arguments. */
  call?(name: string, values: readonly Value[]): Value | undefined;
  /** Undefined: no such field. */
  field?(name: string): Value | undefined;
  /** Whether it is what its type has where nothing was said. */
  isZero?(): boolean;
  /** Of documents; undefined: they have no such value. */
  json?(): unknown;
}

/** A whole number of 64 bits that is not negative. */
export class Uint extends Opaque {
  readonly type = 'uint';

  constructor(readonly value: bigint) {
    super();
  }

  override equals(other: Value): boolean {
    return equal(this.value, numberOf(other) ?? null);
  }

  override isZero(): boolean {
    return this.value === 0n;
  }

  override json(): unknown {
    return Number.isSafeInteger(Number(this.value)) ? Number(this.value) : this.value.toString();
  }
}

/** What `type(x)` is. */
export class TypeValue extends Opaque {
  readonly type = 'type';

  constructor(readonly name: string) {
    super();
  }

  override equals(other: Value): boolean {
    return other instanceof TypeValue && other.name === this.name;
  }
}

/** An expression that has no value: a field that is not there, operands of the wrong types, too much to do. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';
}

/** Of a JSON document, in which whole numbers are ints. */
export function valueOf(json: unknown): Value {
  switch (typeof json) {
    case 'number':
      return Number.isSafeInteger(json) ? BigInt(json) : json;
    case 'string':
    case 'boolean':
    case 'bigint':
      return json;
    default:
      if (Array.isArray(json)) return json.map(valueOf);
      if (typeof json !== 'object' || json === null) return null;
      return new Map(
        Object.entries(json)
          .filter(([, member]) => member !== undefined)
          .map(([key, member]) => [key, valueOf(member)]),
      );
  }
}

export function isMap(value: Value | undefined): value is ReadonlyMap<Key, Value> {
  return value instanceof Map;
}

export function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

export function typeName(value: Value): string {
  if (value === null) return 'null_type';
  if (value instanceof Opaque) return value.type;
  if (isMap(value)) return 'map';
  if (isList(value)) return 'list';
  const names: Readonly<Record<string, string>> = { bigint: 'int', number: 'double', boolean: 'bool' };
  return names[typeof value] ?? 'string';
}

export function asBool(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  throw new EvaluationError('no such overload');
}

export function asKey(value: Value): Key {
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean') return value;
  // Keys that are the same number are the same, whatever their types.
  const number = numberOf(value);
  if (typeof number === 'bigint') return number;
  if (number !== undefined && Number.isInteger(number)) return BigInt(number);
  throw new EvaluationError(`unsupported key type: ${typeName(value)}`);
}

export function equal(a: Value, b: Value): boolean {
  if (a instanceof Opaque) return a.equals(b);
  if (b instanceof Uint) return b.equals(a);
  if (isList(a) && isList(b))
    return a.length === b.length && a.every((item, index) => equal(item, b[index] ?? null));
  if (isMap(a) && isMap(b)) {
    if (a.size !== b.size) return false;
    return [...a].every(([key, value]) => b.has(key) && equal(value, b.get(key) ?? null));
  }
  const [first, second] = [numberOf(a), numberOf(b)];
  if (typeof first !== typeof second && first !== undefined && second !== undefined)
    return Number(first) === Number(second);
  return a === b;
}

/** Less than 0 if `a` comes first. */
export function compare(a: Value, b: Value): number {
  const order = a instanceof Opaque ? a.compare?.(b) : undefined;
  if (order !== undefined) return order;
  const [first, second] = [numberOf(a), numberOf(b)];
  if (first !== undefined && second !== undefined) return compareNumbers(first, second);
  if (typeof a === 'string' && typeof b === 'string') return a === b ? 0 : compareTexts(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  throw new EvaluationError('no such overload');
}

/** A whole number is compared with a double as one, though that may lose some of it. */
function compareNumbers(a: bigint | number, b: bigint | number): number {
  if (typeof a !== typeof b) return compareNumbers(Number(a), Number(b));
  if (Number.isNaN(a) || Number.isNaN(b)) throw new EvaluationError('NaN values cannot be ordered');
  return a < b ? -1 : a > b ? 1 : 0;
}

/** By code points, where JavaScript goes by halves of them. */
function compareTexts(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Undefined: no number. */
export function numberOf(value: Value): bigint | number | undefined {
  if (value instanceof Uint) return value.value;
  return typeof value === 'bigint' || typeof value === 'number' ? value : undefined;
}
