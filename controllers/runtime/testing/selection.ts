/** Selectors of the fake client: equality and existence only. */
import type { KubernetesObject } from '../../../openapi/meta.js';
import type { ListParams } from '../client.js';

export function selects(params: ListParams, object: KubernetesObject): boolean {
  if (params.namespace !== undefined && object.metadata.namespace !== params.namespace) return false;
  const labels = object.metadata.labels ?? {};
  return (
    requirements(params.labelSelector).every(([key, value]) =>
      value === undefined ? key in labels : labels[key] === value,
    ) &&
    requirements(params.fieldSelector).every(([path, value]) => (field(object, path) ?? '') === (value ?? ''))
  );
}

function requirements(selector: string | undefined): [string, string | undefined][] {
  if (selector === undefined || selector === '') return [];
  return selector.split(',').map((part) => {
    const [key = '', value] = part.split(/==?/);
    return [key, value];
  });
}

function field(object: KubernetesObject, path: string): unknown {
  let value: unknown = object;
  for (const part of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[part];
  return value;
}
