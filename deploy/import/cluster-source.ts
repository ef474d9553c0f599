/** The custom resources of a cluster, as its API server serves them. */
import type { Resource } from '../../apiserver/registry/resource.js';
import type { HttpClient } from '../../controllers/runtime/http-client.js';
import { isExpired, isNotFound } from '../../controllers/runtime/errors.js';
import type { KubernetesObject, ObjectList } from '../../openapi/meta.js';
import type { Source } from './source.js';

const pageLength = 500;
/** A list whose history is compacted away is begun anew so often. */
const attempts = 3;

export function clusterSource(client: Pick<HttpClient, 'raw'>, resources: readonly Resource[]): Source {
  return {
    async *objects(signal) {
      for (const resource of resources) {
        for (const object of await listAll(client, resource, signal))
          yield { resource, kind: `${resource.kind}.${resource.group}`, object };
      }
    },
  };
}

/** In the first version that the cluster serves; nothing if it serves none. */
async function listAll(
  client: Pick<HttpClient, 'raw'>,
  resource: Resource,
  signal: AbortSignal,
): Promise<KubernetesObject[]> {
  for (const { name } of resource.versions) {
    const collection = `/apis/${resource.group}/${name}/${resource.plural}`;
    for (let attempt = 1; ; attempt++) {
      try {
        return await pages(client, collection, signal);
      } catch (error) {
        if (isNotFound(error)) break;
        if (!isExpired(error) || attempt === attempts) throw error;
      }
    }
  }
  return [];
}

async function pages(
  client: Pick<HttpClient, 'raw'>,
  collection: string,
  signal: AbortSignal,
): Promise<KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  for (let next = ''; ;) {
    const query = new URLSearchParams({
      limit: String(pageLength),
      ...(next === '' ? {} : { continue: next }),
    });
    // The server owns the shape of its lists.
    const list = (await client.raw(
      `${collection}?${query.toString()}`,
      signal,
    )) as ObjectList<KubernetesObject>;
    objects.push(...list.items);
    next = list.metadata.continue ?? '';
    if (next === '') return objects;
  }
}
