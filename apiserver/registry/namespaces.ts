/** Whether a namespace takes new objects. */
import { notFound } from '../errors/api-error.js';
import { forbidden, type Endpoint } from './endpoint.js';
import { objectKey } from './keys.js';
import type { Resource } from './resource.js';

export type NamespaceState = 'active' | 'terminating' | 'absent';

/** Standalone reads its own namespaces; in a cluster they are kube-apiserver's. */
export type NamespaceLookup = (name: string) => Promise<NamespaceState>;

/** Looks into the namespaces that this server stores. */
export function storedNamespaces({ resource, store }: Endpoint): NamespaceLookup {
  return async (name) => {
    const key = objectKey(resource, { namespace: undefined, name });
    const entry = await store.get(key, { kind: 'newest' });
    if (entry === undefined) return 'absent';
    return entry.attributes.fields['status.phase'] === 'Terminating' ? 'terminating' : 'active';
  };
}

/** Throws what kube-apiserver answers to a create in a namespace that is not there or is going away. */
export async function requireNamespace(
  lookup: NamespaceLookup,
  namespace: string,
  resource: Resource,
  name: string,
): Promise<void> {
  switch (await lookup(namespace)) {
    case 'active':
      return;
    case 'absent':
      throw notFound('', 'namespaces', namespace);
    case 'terminating':
      throw forbidden(
        resource,
        name,
        `unable to create new content in namespace ${namespace} because it is being terminated`,
        [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${namespace} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      );
  }
}
