/** The parts of an object that are written apart: its metadata, its status, and everything else. */
import type { KubernetesObject } from '../../openapi/meta.js';
import { omit } from '../codec/omit.js';
import { sameJson } from './equal.js';
import type { Resource } from './resource.js';

type Fields = Readonly<Record<string, unknown>>;

const typeAndMetadata: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** KubernetesObject names only the fields that all kinds have; the others are read through this. */
function fieldsOf(object: KubernetesObject): Fields {
  return { ...object };
}

function differ(a: KubernetesObject, b: KubernetesObject, ignored: (key: string) => boolean): boolean {
  const left = fieldsOf(a);
  const right = fieldsOf(b);
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  for (const key of keys) if (!ignored(key) && !sameJson(left[key], right[key])) return true;
  return false;
}

/** Whether anything but the metadata differs. */
export function bodyChanged(a: KubernetesObject, b: KubernetesObject): boolean {
  return differ(a, b, (key) => typeAndMetadata.has(key));
}

/** Whether what `metadata.generation` counts differs. */
export function desiredChanged(resource: Resource, a: KubernetesObject, b: KubernetesObject): boolean {
  return differ(a, b, (key) => typeAndMetadata.has(key) || (resource.status && key === 'status'));
}

function withStatus<T extends object>(object: T, status: unknown): T {
  const rest = omit(object as T & { readonly status?: unknown }, 'status');
  // The same object but for the status, which every kind that gets here may have or lack.
  return (status === undefined ? rest : { ...rest, status }) as T;
}

/** A new object without the status that only the status subresource may write. */
export function withoutStatus<T extends object>(resource: Resource, object: T): T {
  return resource.status ? withStatus(object, undefined) : object;
}

/**
 * What an update through `subresource` (undefined: the main resource) may change, over the old state: through `status` the
 * status alone, through all others everything but the status.
 */
export function keepApart(
  resource: Resource,
  subresource: string | undefined,
  object: KubernetesObject,
  old: KubernetesObject,
): KubernetesObject {
  if (!resource.status) return object;
  // A subresource of the kind's own has changed what is its own, and nothing else.
  if (subresource !== undefined && resource.subresources?.[subresource] !== undefined) return object;
  if (subresource !== 'status') return withStatus(object, fieldsOf(old)['status']);
  const metadata = omit(old.metadata, 'managedFields');
  const { managedFields } = object.metadata;
  return withStatus(
    { ...old, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } },
    fieldsOf(object)['status'],
  );
}
