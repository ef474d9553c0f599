import { sameJson } from '../../../registry/equal.js';
import type { FieldPath } from '../../causes.js';

/** Where two values differ: members of objects one by one, lists and everything else as a whole. */
export function changedFields(value: unknown, old: unknown, at: FieldPath): FieldPath[] {
  if (sameJson(value, old)) return [];
  if (!isObject(value) || !isObject(old)) return [at];
  const names = new Set([...Object.keys(value), ...Object.keys(old)]);
  return [...names].flatMap((name) => changedFields(value[name], old[name], at.child(name)));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
