/** Reads for admission: parsed once a state, and shared, since many requests look at the same few objects. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Entry } from '../../storage/interface.js';
import type { AdmissionLookups, Freshness } from '../admission/interface.js';
import { decodeEntry, type Endpoint } from './endpoint.js';
import { objectKey } from './keys.js';

const maximumParsed = 512;

export function createLookups(
  endpoint: (group: string, resource: string) => Endpoint | undefined,
  elsewhere?: AdmissionLookups,
): AdmissionLookups {
  const parsed = new Map<Entry, KubernetesObject>();

  function parse({ resource }: Endpoint, entry: Entry): KubernetesObject {
    const known = parsed.get(entry);
    if (known !== undefined) return known;
    const object = decodeEntry(resource, resource.storageVersion, entry);
    parsed.set(entry, object);
    if (parsed.size > maximumParsed) {
      const [oldest] = parsed.keys();
      if (oldest !== undefined) parsed.delete(oldest);
    }
    return object;
  }

  return {
    async get<T extends KubernetesObject>(
      group: string,
      resource: string,
      namespace: string | undefined,
      name: string,
    ) {
      const found = endpoint(group, resource);
      if (name === '') return undefined;
      if (found === undefined) return elsewhere?.get<T>(group, resource, namespace, name);
      const entry = await found.store.get(objectKey(found.resource, { namespace, name }), { kind: 'newest' });
      // Callers name the type of the kind that they ask for, here and below.
      return entry === undefined ? undefined : (parse(found, entry) as T);
    },
    async list<T extends KubernetesObject>(
      group: string,
      resource: string,
      namespace: string | undefined,
      freshness: Freshness = 'newest',
    ) {
      const found = endpoint(group, resource);
      if (found === undefined) return (await elsewhere?.list<T>(group, resource, namespace)) ?? [];
      const { entries } = await found.store.list({
        at: { kind: freshness === 'cached' ? 'any' : 'newest' },
        ...(namespace === undefined ? {} : { namespace }),
      });
      return entries.map((entry) => parse(found, entry) as T);
    },
  };
}
