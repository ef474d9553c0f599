/** Which kinds the server serves. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Kind } from './client.js';
import type { HttpClient } from './http-client.js';

export interface DiscoveredKind extends Kind<KubernetesObject> {
  readonly verbs: readonly string[];
}

export interface Discovery {
  /** Each kind once, in the server's preferred version. Rejects if any group does not answer: half a picture is dangerous. */
  kinds(signal: AbortSignal): Promise<readonly DiscoveredKind[]>;
}

interface ResourceList {
  readonly resources?: readonly {
    readonly name: string;
    readonly kind: string;
    readonly namespaced: boolean;
    readonly verbs: readonly string[];
  }[];
}

interface GroupList {
  readonly groups?: readonly {
    readonly name: string;
    readonly preferredVersion?: { readonly version: string };
    readonly versions: readonly { readonly version: string }[];
  }[];
}

export function createDiscovery(client: Pick<HttpClient, 'raw'>): Discovery {
  const read = async (
    path: string,
    group: string,
    version: string,
    signal: AbortSignal,
  ): Promise<DiscoveredKind[]> => {
    const { resources = [] } = (await client.raw(path, signal)) as ResourceList;
    return resources
      .filter(({ name }) => !name.includes('/'))
      .map(({ name, kind, namespaced, verbs }) => ({
        group,
        version,
        kind,
        resource: name,
        namespaced,
        verbs,
      }));
  };
  return {
    async kinds(signal) {
      const { groups = [] } = (await client.raw('/apis', signal)) as GroupList;
      const lists = await Promise.all([
        read('/api/v1', '', 'v1', signal),
        ...groups.flatMap(({ name, preferredVersion, versions }) => {
          const ordered = [preferredVersion, ...versions].flatMap((each) => each?.version ?? []);
          return [...new Set(ordered)].map((version) =>
            read(`/apis/${name}/${version}`, name, version, signal),
          );
        }),
      ]);
      const found = new Map<string, DiscoveredKind>();
      for (const kind of lists.flat()) {
        const id = `${kind.group}/${kind.resource}`;
        if (!found.has(id)) found.set(id, kind);
      }
      return [...found.values()];
    },
  };
}
