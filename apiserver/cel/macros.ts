/** Macros: what is done with an expression for each item of a list, each entry of a map, or what an optional holds. */
import { anyOf, itemsOf } from './collections.js';
import { Optional, present } from './library/optional.js';
import { spend, step, withVariables, type Evaluate, type Scope } from './scope.js';
import {
  asBool,
  asKey,
  compare,
  EvaluationError,
  isList,
  isMap,
  typeName,
  type Key,
  type Value,
} from './values.js';

/** The scope of one item. */
interface Bound {
  /** Of lists the item, of maps the key. */
  readonly item: Value;
  readonly key: Key;
  readonly inner: Scope;
}

type Combine = (bounds: readonly Bound[], bodies: Bodies) => Value;

interface Bodies {
  readonly first: Evaluate;
  readonly second: Evaluate | undefined;
}

const holds =
  (body: Evaluate) =>
  ({ inner }: Bound): boolean =>
    asBool(body(inner));

const exactlyOne: Combine = (bounds, { first }) => bounds.filter(holds(first)).length === 1;

/** With one expression each is transformed, with two those for which the first holds. */
const transformed = (bounds: readonly Bound[], { first, second }: Bodies): (readonly [Bound, Value])[] =>
  second === undefined
    ? bounds.map((bound) => [bound, first(bound.inner)] as const)
    : bounds.filter(holds(first)).map((bound) => [bound, second(bound.inner)] as const);

const overItems: Readonly<Record<string, Combine>> = {
  all: (bounds, { first }) => !anyOf(bounds, (bound) => !holds(first)(bound)),
  exists: (bounds, { first }) => anyOf(bounds, holds(first)),
  exists_one: exactlyOne,
  existsOne: exactlyOne,
  filter: (bounds, { first }) => bounds.filter(holds(first)).map(({ item }) => item),
  map: (bounds, bodies) => transformed(bounds, bodies).map(([, value]) => value),
  sortBy: (bounds, { first }) =>
    bounds
      .map(({ item, inner }) => [first(inner), item] as const)
      .sort(([a], [b]) => compare(a, b))
      .map(([, item]) => item),
};

const overEntries: Readonly<Record<string, Combine>> = {
  all: overItems['all'] ?? exactlyOne,
  exists: overItems['exists'] ?? exactlyOne,
  existsOne: exactlyOne,
  transformList: (bounds, bodies) => transformed(bounds, bodies).map(([, value]) => value),
  transformMap: (bounds, bodies) =>
    new Map(transformed(bounds, bodies).map(([{ key }, value]) => [key, value])),
  transformMapEntry: (bounds, bodies) => merged(transformed(bounds, bodies).map(([, value]) => value)),
};

function merged(maps: readonly Value[]): Value {
  const all = new Map<Key, Value>();
  for (const map of maps) {
    if (!isMap(map)) throw new EvaluationError('no such overload');
    for (const [key, value] of map) {
      if (all.has(key)) throw new EvaluationError(`insert failed: key ${String(key)} already exists`);
      all.set(key, value);
    }
  }
  return all;
}

const onOptionals = ['optMap', 'optFlatMap'];

export function isMacro(name: string): boolean {
  return Object.hasOwn(overItems, name) || Object.hasOwn(overEntries, name) || onOptionals.includes(name);
}

export function takesTwoNames(name: string): boolean {
  return Object.hasOwn(overEntries, name);
}

/**
 * @param names one or two: that of the item, or those of key and value
 * @param bodies one or two
 * @returns undefined: there is no such macro
 */
export function compileMacro(
  name: string,
  receiver: Evaluate,
  names: readonly string[],
  bodies: readonly Evaluate[],
): Evaluate | undefined {
  const [first, second] = bodies;
  if (first === undefined || bodies.length > 2) return undefined;
  if (onOptionals.includes(name)) return optionalMacro(name, receiver, names, first);
  const table = names.length === 2 ? overEntries : overItems;
  const combine = Object.hasOwn(table, name) ? table[name] : undefined;
  if (combine === undefined) return undefined;
  return step((scope) => {
    const value = receiver(scope);
    const pairs = entriesOf(value);
    const items = itemsOf(value);
    spend(scope, pairs.length);
    const bounds = pairs.map(([key, member], index): Bound => {
      const item = items[index] ?? null;
      const values = names.length === 2 ? [key, member] : [item];
      return { item, key, inner: withVariables(scope, names, values) };
    });
    return combine(bounds, { first, second });
  });
}

function entriesOf(value: Value): readonly (readonly [Key, Value])[] {
  if (isList(value)) return value.map((item, index) => [BigInt(index), item]);
  if (isMap(value)) return [...value].map(([key, member]) => [asKey(key), member]);
  throw new EvaluationError(`${typeName(value)} has no items`);
}

function optionalMacro(name: string, receiver: Evaluate, names: readonly string[], body: Evaluate): Evaluate {
  return step((scope) => {
    const value = receiver(scope);
    if (!(value instanceof Optional))
      throw new EvaluationError(`no such overload: ${typeName(value)}.${name}()`);
    if (value.content === undefined) return value;
    const result = body(withVariables(scope, names, [value.content]));
    return name === 'optMap' ? present(result) : result;
  });
}
