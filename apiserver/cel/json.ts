/** What CEL's values are in a document of JSON. */
import { Message } from './messages.js';
import { EvaluationError, isList, isMap, Opaque, typeName, type Value } from './values.js';

/** Throws `EvaluationError` if JSON has no such value. */
export function jsonOf(value: Value): unknown {
  // As protobuf writes JSON, where a number can not hold them.
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (typeof value === 'number' && !Number.isFinite(value)) throw unfit(`the number ${value}`);
  if (isList(value)) return value.map(jsonOf);
  if (isMap(value))
    return Object.fromEntries([...value].map(([key, member]) => [keyOf(key), jsonOf(member)]));
  if (value instanceof Message)
    return Object.fromEntries([...value.fields].map(([name, field]) => [name, jsonOf(field)]));
  if (value instanceof Opaque) {
    const shown = value.json?.();
    if (shown === undefined) throw unfit(typeName(value));
    return shown;
  }
  return value;
}

function keyOf(key: unknown): string {
  if (typeof key === 'string') return key;
  throw unfit(`the key ${String(key)}`);
}

const unfit = (what: string): EvaluationError => new EvaluationError(`${what} can not be part of an object`);
