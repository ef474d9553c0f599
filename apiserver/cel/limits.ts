/** How large what an expression makes may be, and what it costs to read something. */
import { EvaluationError, isList, isMap, type Value } from './values.js';

const maximumSize = 1024 * 1024;
/** Characters that are read for one step. */
const charactersPerStep = 10;

/** Throws `EvaluationError`. */
export function bounded<T extends string | readonly Value[]>(value: T): T {
  if (value.length <= maximumSize) return value;
  throw new EvaluationError(`a text or list is longer than ${maximumSize}`);
}

/** Steps that it takes to look at the value once. */
export function weight(value: Value): number {
  if (typeof value === 'string') return Math.ceil(value.length / charactersPerStep);
  if (isList(value)) return value.length;
  return isMap(value) ? value.size : 1;
}
