/** Fields and elements of values, and literals of lists and maps, with their optional forms. */
import type { Node } from './compile.js';
import { at, entry } from './collections.js';
import { Optional, present } from './library/optional.js';
import { isWellKnown, wellKnownValue } from './library/well-known-types.js';
import { messageOf } from './messages.js';
import { spend, step, type Evaluate } from './scope.js';
import { asKey, EvaluationError, isList, isMap, Opaque, typeName, type Key, type Value } from './values.js';

/** Undefined: not there. Throws for values that have no fields. */
function fieldOf(value: Value, name: string): Value | undefined {
  if (isMap(value)) return value.get(name);
  const found = value instanceof Opaque ? value.field?.(name) : undefined;
  if (found === undefined)
    throw new EvaluationError(
      isList(value) ? "unsupported index type 'string' in list" : `no such key: ${name}`,
    );
  return found;
}

export function field(operand: Evaluate, name: string): Node {
  return {
    evaluate: step((scope) => {
      const value = operand(scope);
      // What is selected from an optional is one, too.
      if (value instanceof Optional) return selectFrom(value, (content) => fieldOf(content, name));
      return isMap(value) ? entry(value, name) : (fieldOf(value, name) ?? null);
    }),
    present: step((scope) => {
      const value = operand(scope);
      const content = value instanceof Optional ? value.content : value;
      return content !== undefined && fieldOf(content, name) !== undefined;
    }),
  };
}

export function optionalField(operand: Evaluate, name: string): Evaluate {
  return step((scope) => selectFrom(operand(scope), (content) => fieldOf(content, name)));
}

export function element(operand: Evaluate, index: Evaluate): Evaluate {
  return step((scope) => {
    const value = operand(scope);
    if (value instanceof Optional) return selectFrom(value, (content) => elementOf(content, index(scope)));
    return at(value, index(scope));
  });
}

export function optionalElement(operand: Evaluate, index: Evaluate): Evaluate {
  return step((scope) => selectFrom(operand(scope), (content) => elementOf(content, index(scope))));
}

function elementOf(value: Value, index: Value): Value | undefined {
  if (isMap(value)) return value.get(asKey(index));
  return isList(value) && typeof index === 'bigint' && index >= 0n ? value[Number(index)] : undefined;
}

function selectFrom(value: Value, select: (content: Value) => Value | undefined): Optional {
  const content = value instanceof Optional ? value.content : value;
  return present(content === undefined ? undefined : select(content));
}

interface Item {
  readonly evaluate: Evaluate;
  /** An item that is left out if it is nothing. */
  readonly optional: boolean;
}

function included({ evaluate, optional }: Item, scope: Parameters<Evaluate>[0]): Value | undefined {
  const value = evaluate(scope);
  if (!optional) return value;
  if (value instanceof Optional) return value.content;
  throw new EvaluationError(`an optional value was expected, not ${typeName(value)}`);
}

export function items(literals: readonly Item[]): Evaluate {
  return step((scope) => {
    spend(scope, literals.length);
    return literals.flatMap((item) => {
      const value = included(item, scope);
      return value === undefined ? [] : [value];
    });
  });
}

/** Of a message. */
export function fields(type: string, literals: readonly (Item & { readonly name: string })[]): Evaluate {
  return step((scope) => {
    spend(scope, literals.length);
    const values = new Map<string, Value>();
    for (const item of literals) {
      const value = included(item, scope);
      if (value !== undefined) values.set(item.name, value);
    }
    return isWellKnown(type) ? wellKnownValue(type, values) : messageOf(type, values);
  });
}

export function entries(literals: readonly (Item & { readonly key: Evaluate })[]): Evaluate {
  return step((scope) => {
    spend(scope, literals.length);
    const map = new Map<Key, Value>();
    for (const item of literals) {
      const key = asKey(item.key(scope));
      const value = included(item, scope);
      if (map.has(key)) throw new EvaluationError(`Failed with repeated key: ${String(key)}`);
      if (value !== undefined) map.set(key, value);
    }
    return map;
  });
}
