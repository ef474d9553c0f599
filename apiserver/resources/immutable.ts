/** Rules for fields that an update may not change. */
import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';
import { sameJson } from '../registry/equal.js';
import { forbiddenValue, invalidValue } from '../registry/metadata-rules.js';
import type { Strategy } from '../registry/resource.js';

/** A `validate` that refuses any change of the value that `read` gives; `path` names it. */
export function immutableField(
  path: string,
  read: (object: never) => unknown,
): Required<Strategy>['validate'] {
  return (object, old) => {
    if (old === undefined) return [];
    // A strategy is only ever given objects of its own kind.
    const value = read(object as never);
    return sameJson(value, read(old as never))
      ? []
      : [invalidValue(path, value ?? null, 'field is immutable')];
  };
}

interface Freezable extends KubernetesObject {
  readonly immutable?: boolean;
}

/** Config maps and secrets: once `immutable` is true, neither it nor the data may change. */
export function frozenCauses(
  object: Freezable,
  old: Freezable | undefined,
  keys: readonly string[],
): readonly StatusCause[] {
  if (old?.immutable !== true) return [];
  const causes: StatusCause[] = [];
  if (object.immutable !== true) {
    causes.push(forbiddenValue('immutable', 'field is immutable when `immutable` is set'));
  }
  const now: Readonly<Record<string, unknown>> = { ...object };
  const before: Readonly<Record<string, unknown>> = { ...old };
  for (const key of keys) {
    if (!sameJson(now[key], before[key])) {
      causes.push(forbiddenValue(key, 'field is immutable when `immutable` is set'));
    }
  }
  return causes;
}
