/** How large what an expression makes may be, and what it costs to read something. */
import { EvaluationError, isList, isMap, Opaque, type Value } from './values.js';

export const maximumSize = 1024 * 1024;
/** Characters that are read for one step. */
const charactersPerStep = 10;

/** Throws `EvaluationError`. */
export function bounded<T extends { readonly length: number }>(value: T): T {
  if (value.length <= maximumSize) return value;
  throw new EvaluationError(`a text, list or sequence of bytes is longer than ${maximumSize}`);
}

/** Steps that it takes to look at the value once. */
export function weight(value: Value): number {
  if (typeof value === 'string') return Math.ceil(value.length / charactersPerStep);
  if (isList(value)) return value.length;
  if (value instanceof Opaque) return Math.ceil(Number(value.size ?? 1n) / charactersPerStep);
  return isMap(value) ? value.size : 1;
}
