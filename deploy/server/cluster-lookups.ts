/** What the API server reads of the cluster's own kinds. */
import type { AdmissionLookups } from '../../apiserver/admission/interface.js';
import { notFound } from '../../apiserver/errors/api-error.js';
import type { NamespaceLookup } from '../../apiserver/registry/namespaces.js';
import { createdByLabel, type LauncherPods } from '../../apiserver/subresources/launcher-pods.js';
import type { Client, Kind, ObjectKey } from '../../controllers/runtime/client.js';
import { isNotFound } from '../../controllers/runtime/errors.js';
import type { Informer } from '../../controllers/runtime/informer.js';
import { namespaces, nodes, pods } from '../../controllers/runtime/kinds.js';
import type { Namespace } from '../../openapi/generated/types/core_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { nodeAgentAddressAnnotation } from '../../openapi/node-agent.js';

export async function getIfExists<T extends KubernetesObject>(
  client: Client,
  kind: Kind<T>,
  key: ObjectKey,
): Promise<T | undefined> {
  try {
    return await client.get(kind, key);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** From the informer; what it has not seen yet may have been created a moment ago, so that is asked of the cluster itself. */
async function findNamespace(
  client: Client,
  informer: Informer<Namespace>,
  name: string,
): Promise<Namespace | undefined> {
  return informer.get({ name }) ?? (await getIfExists(client, namespaces, { name }));
}

export function clusterNamespaces(client: Client, informer: Informer<Namespace>): NamespaceLookup {
  return async (name) => {
    const namespace = await findNamespace(client, informer, name);
    if (namespace === undefined) return 'absent';
    return namespace.status?.phase === 'Terminating' ? 'terminating' : 'active';
  };
}

/** For admission by the cluster's rules. Rejects with NotFound if there is no such namespace. */
export function clusterNamespace(
  client: Client,
  informer: Informer<Namespace>,
): (name: string) => Promise<Namespace> {
  return async (name) => {
    const namespace = await findNamespace(client, informer, name);
    if (namespace === undefined) throw notFound('', 'namespaces', name);
    return namespace;
  };
}

/** Address of a node's agent, from the annotation that it keeps on its Node. */
export function clusterNodeAddress(client: Client): (node: string) => Promise<string | undefined> {
  return async (name) =>
    (await getIfExists(client, nodes, { name }))?.metadata.annotations?.[nodeAgentAddressAnnotation];
}

export function clusterLauncherPods(client: Client): LauncherPods {
  return {
    async deleteNow({ metadata }, signal) {
      const { namespace, uid } = metadata;
      const { items } = await client.list(
        pods,
        { ...(namespace === undefined ? {} : { namespace }), labelSelector: `${createdByLabel}=${uid}` },
        signal,
      );
      for (const pod of items) {
        try {
          await client.delete(pods, pod.metadata, { gracePeriodSeconds: 0 }, signal);
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      }
    },
  };
}

/** In which version kinds are read that admission asks for. */
const versions: Readonly<Record<string, string>> = {
  '': 'v1',
  apps: 'v1',
  'cdi.kubevirt.io': 'v1beta1',
  'k8s.cni.cncf.io': 'v1',
  'scheduling.k8s.io': 'v1',
  'snapshot.storage.k8s.io': 'v1',
  'storage.k8s.io': 'v1',
};

export function clusterLookups(client: Client): AdmissionLookups {
  const kindOf = <T extends KubernetesObject>(
    group: string,
    resource: string,
    namespace: string | undefined,
  ): Kind<T> => {
    const version = versions[group];
    if (version === undefined) throw new Error(`admission reads ${resource} of ${group} in no known version`);
    return { group, version, kind: '', resource, namespaced: namespace !== undefined };
  };
  return {
    get: <T extends KubernetesObject>(
      group: string,
      resource: string,
      namespace: string | undefined,
      name: string,
    ) => getIfExists(client, kindOf<T>(group, resource, namespace), { namespace, name }),
    list: async <T extends KubernetesObject>(
      group: string,
      resource: string,
      namespace: string | undefined,
    ) => {
      const kind = kindOf<T>(group, resource, namespace);
      return (await client.list(kind, namespace === undefined ? {} : { namespace })).items;
    },
  };
}
