import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';
import { sameJson } from '../registry/equal.js';
import { FieldPath, invalid } from './causes.js';

/** For kinds that order one piece of work: what was ordered stays as it is. */
export function immutableSpec(
  object: KubernetesObject & { readonly spec?: unknown },
  old: KubernetesObject & { readonly spec?: unknown },
): StatusCause[] {
  if (sameJson(object.spec, old.spec)) return [];
  return [invalid(FieldPath.of('spec'), 'can not be changed once the object exists: create another')];
}
