/** The values of CEL, as JavaScript has them: `bigint` is an int, `number` a double. */
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
  /** Of a method; undefined: no such method for these arguments. */
  call?(name: string, values: readonly Value[]): Value | undefined;
  /** Undefined: no such field. */
  field?(name: string): Value | undefined;
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
  throw new EvaluationError(`a truth value was expected, not ${typeName(value)}`);
}

export function asKey(value: Value): Key {
  if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean') return value;
  throw new EvaluationError(`${typeName(value)} can not be a key`);
}

export function equal(a: Value, b: Value): boolean {
  if (a instanceof Opaque) return a.equals(b);
  if (isList(a) && isList(b))
    return a.length === b.length && a.every((item, index) => equal(item, b[index] ?? null));
  if (isMap(a) && isMap(b)) {
    if (a.size !== b.size) return false;
    return [...a].every(([key, value]) => b.has(key) && equal(value, b.get(key) ?? null));
  }
  if (typeof a === 'bigint' && typeof b === 'number') return Number.isInteger(b) && BigInt(b) === a;
  if (typeof a === 'number' && typeof b === 'bigint') return equal(b, a);
  return a === b;
}

/** Less than 0 if `a` comes first. */
export function compare(a: Value, b: Value): number {
  const order = a instanceof Opaque ? a.compare?.(b) : undefined;
  if (order !== undefined) return order;
  const comparable =
    (isNumber(a) && isNumber(b)) ||
    (typeof a === 'string' && typeof b === 'string') ||
    (typeof a === 'boolean' && typeof b === 'boolean');
  if (!comparable) throw new EvaluationError('no such overload');
  return a < b ? -1 : a > b ? 1 : 0;
}

function isNumber(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number';
}
