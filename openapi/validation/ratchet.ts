/**
 * Ratcheting: what was wrong before this update, and is not touched by it, is not held against it. Else an object that an older
 * schema let in could not even lose a finalizer.
 */
import { isDeepStrictEqual } from 'node:util';
import { memberNode, type StructuralNode } from '../structural/nodes.js';
import type { FieldError, FieldPath } from './field-error.js';
import { correlate, isObject } from './walk.js';

/** The errors that this update is answerable for. */
export function ratchet(
  root: StructuralNode,
  errors: readonly FieldError[],
  value: unknown,
  old: unknown,
): readonly FieldError[] {
  return errors.filter(({ path, cause }) => {
    // What is absent can only have been taken from its parent.
    const place = cause.reason === 'FieldValueRequired' ? path.slice(0, -1) : path;
    return !unchanged(root, place, value, old);
  });
}

/** Whether some value on the way to `path` is as it was. */
function unchanged(root: StructuralNode, path: FieldPath, value: unknown, old: unknown): boolean {
  let node: StructuralNode | undefined = root;
  let [current, before] = [value, old];
  for (const step of path) {
    if (node === undefined || before === undefined) return false;
    if (typeof step === 'number') {
      const item: unknown = Array.isArray(current) ? current[step] : undefined;
      before = node.kind === 'list' ? correlate(node, item, before) : undefined;
      current = item;
      node = node.kind === 'list' ? node.item.node : undefined;
    } else {
      current = isObject(current) ? current[step] : undefined;
      before = isObject(before) ? before[step] : undefined;
      node = memberNode(node, step);
    }
    if (before !== undefined && isDeepStrictEqual(current, before)) return true;
  }
  return false;
}
