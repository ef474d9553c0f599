/** Lists and maps. */
import { BudgetError } from './scope.js';
import { asKey, equal, EvaluationError, isList, isMap, typeName, type Key, type Value } from './values.js';

export function entry(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key);
  if (value === undefined) throw new EvaluationError(`no such key: ${String(key)}`);
  return value;
}

export function at(operand: Value, index: Value): Value {
  if (isMap(operand)) return entry(operand, asKey(index));
  if (!isList(operand)) throw new EvaluationError('no such overload');
  if (typeof index !== 'bigint')
    throw new EvaluationError(`unsupported index type '${typeName(index)}' in list`);
  const item = index >= 0n ? operand[Number(index)] : undefined;
  if (item === undefined) throw new EvaluationError(`index out of bounds: ${index}`);
  return item;
}

export function isIn(value: Value, container: Value): boolean {
  if (isList(container)) return container.some((item) => equal(item, value));
  if (isMap(container)) return container.has(asKey(value));
  throw new EvaluationError(`nothing is in ${typeName(container)}`);
}

export function itemsOf(value: Value): readonly Value[] {
  if (isList(value)) return value;
  if (isMap(value)) return [...value.keys()];
  throw new EvaluationError(`${typeName(value)} has no items`);
}

/** One that holds decides, whatever has no value; if none does, that counts. */
export function anyOf<T>(items: readonly T[], holds: (item: T) => boolean): boolean {
  let failure: { readonly error: unknown } | undefined;
  for (const item of items) {
    try {
      if (holds(item)) return true;
    } catch (error) {
      if (error instanceof BudgetError) throw error;
      failure ??= { error };
    }
  }
  if (failure !== undefined) throw failure.error;
  return false;
}
