/** The few kinds of write that controllers make. Each is one request, and none is made that would change nothing. */
import { createMergePatch } from '../../openapi/merge-patch.js';
import type { KubernetesObject, New, OwnerReference } from '../../openapi/meta.js';
import type { Client, Kind } from './client.js';
import { StatusError, isAlreadyExists } from './errors.js';

type Json = Record<string, unknown>;

/**
 * Brings the status to `wanted`. Refused with `Conflict` if the object is no longer as `current`. Returns the new object,
 * or undefined if there was nothing to write.
 */
export async function patchStatus<T extends KubernetesObject & { status?: object }>(
  client: Client,
  kind: Kind<T>,
  current: T,
  wanted: object,
  signal: AbortSignal,
): Promise<T | undefined> {
  const before = (current.status ?? {}) as Json;
  const status = createMergePatch(before, withoutUndefined(wanted) as Json);
  if (Object.keys(status).length === 0) return undefined;
  const { uid, resourceVersion } = current.metadata;
  const body = { metadata: { uid, resourceVersion }, status };
  return client.patch(kind, current.metadata, { type: 'merge', body }, 'status', signal);
}

/** Changes the set of finalizers, refused with `Conflict` if the object has changed. */
export async function patchFinalizers<T extends KubernetesObject>(
  client: Client,
  kind: Kind<T>,
  current: T,
  change: { readonly add?: string; readonly remove?: readonly string[] },
  signal: AbortSignal,
): Promise<T | undefined> {
  const before = current.metadata.finalizers ?? [];
  const kept = before.filter((finalizer) => change.remove?.includes(finalizer) !== true);
  const finalizers = change.add === undefined || kept.includes(change.add) ? kept : [...kept, change.add];
  if (finalizers.length === before.length && finalizers.every((name, index) => name === before[index]))
    return undefined;
  const { uid, resourceVersion } = current.metadata;
  const body = {
    metadata: { uid, resourceVersion, finalizers: finalizers.length === 0 ? null : finalizers },
  };
  return client.patch(kind, current.metadata, { type: 'merge', body }, undefined, signal);
}

/** Changes the owners, `remove` being the UID of one; refused with `Conflict` if the object has changed. */
export async function patchOwnerReferences<T extends KubernetesObject>(
  client: Client,
  kind: Kind<T>,
  current: T,
  change: { readonly add?: OwnerReference; readonly remove?: string },
  signal: AbortSignal,
): Promise<T | undefined> {
  const before = current.metadata.ownerReferences ?? [];
  const others = before.filter(({ uid }) => uid !== change.remove && uid !== change.add?.uid);
  const ownerReferences = change.add === undefined ? others : [...others, change.add];
  if (change.add === undefined && others.length === before.length) return undefined;
  const { uid, resourceVersion } = current.metadata;
  const body = {
    metadata: {
      uid,
      resourceVersion,
      ownerReferences: ownerReferences.length === 0 ? null : ownerReferences,
    },
  };
  return client.patch(kind, current.metadata, { type: 'merge', body }, undefined, signal);
}

/**
 * Creates an object that `owner` controls, once: it is not an error that it has been created already. If no answer came, the
 * server is asked whether it has.
 */
export async function createOwned<T extends KubernetesObject>(
  client: Client,
  kind: Kind<T>,
  object: New<T> & { metadata: { name: string } },
  owner: KubernetesObject,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await client.create(kind, object, signal);
  } catch (error) {
    const refused = error instanceof StatusError && error.code < 500 && !isAlreadyExists(error);
    if (signal.aborted || refused) throw error;
    const { namespace, name } = object.metadata;
    // Should this fail too, the first error says more.
    const existing = await client.get(kind, { namespace, name }, signal).catch(() => undefined);
    if (existing !== undefined && isControlledBy(existing, owner)) return existing;
    throw error;
  }
}

/** The reference by which `owner` controls what it makes. */
export function controllerReference(owner: KubernetesObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  };
}

export function controllerOf(object: KubernetesObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

export function isControlledBy(object: KubernetesObject, owner: KubernetesObject): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid;
}

/** JSON has no undefined; merge patches would take it for a difference. */
function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([key, inner]) => [key, withoutUndefined(inner)]),
  );
}
