/** Empties a namespace. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Client } from '../runtime/client.js';
import type { DiscoveredKind } from '../runtime/discovery.js';
import { isConflict, isNotFound } from '../runtime/errors.js';

const pageSize = 500;

export interface Remaining {
  readonly kind: DiscoveredKind;
  readonly count: number;
  /** Finalizers that hold objects back, and how many objects each. */
  readonly finalizers: ReadonlyMap<string, number>;
}

/** Asks for everything of a kind in the namespace to be deleted. Returns what is still there. */
export async function emptyOfKind(
  client: Client,
  kind: DiscoveredKind,
  namespace: string,
  signal: AbortSignal,
): Promise<Remaining> {
  const finalizers = new Map<string, number>();
  let count = 0;
  let after: string | undefined;
  do {
    const params = { namespace, limit: pageSize, ...(after === undefined ? {} : { continue: after }) };
    const page = await client.list<KubernetesObject>(kind, params, signal);
    for (const object of page.items) {
      count += 1;
      for (const finalizer of object.metadata.finalizers ?? [])
        finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
      if (object.metadata.deletionTimestamp === undefined) await remove(client, kind, object, signal);
    }
    after = page.metadata.continue === '' ? undefined : page.metadata.continue;
  } while (after !== undefined);
  return { kind, count, finalizers };
}

async function remove(
  client: Client,
  kind: DiscoveredKind,
  { metadata }: KubernetesObject,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = metadata;
  try {
    const params = { propagationPolicy: 'Background', preconditions: { uid } } as const;
    await client.delete<KubernetesObject>(kind, metadata, params, signal);
  } catch (error) {
    // Gone, or there is a new one of that name: the next round sees.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
