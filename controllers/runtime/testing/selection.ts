/** What a list or watch of the fake client selects. */
import type { KubernetesObject } from '../../../openapi/meta.js';
import { parseLabelSelector } from '../../../openapi/selectors.js';
import type { ListParams } from '../client.js';

export function selects(params: ListParams, object: KubernetesObject): boolean {
  if (params.namespace !== undefined && object.metadata.namespace !== params.namespace) return false;
  return (
    parseLabelSelector(params.labelSelector ?? '').matches(object.metadata.labels) &&
    fields(params.fieldSelector).every(([path, value]) => (field(object, path) ?? '') === value)
  );
}

/** Equality only: that is all that controllers ask for. */
function fields(selector: string | undefined): [string, string][] {
  if (selector === undefined || selector === '') return [];
  return selector.split(',').map((part) => {
    const [path = '', value = ''] = part.split(/==?/);
    return [path, value];
  });
}

function field(object: KubernetesObject, path: string): unknown {
  let value: unknown = object;
  for (const part of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[part];
  return value;
}
