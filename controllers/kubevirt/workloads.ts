/** The Deployments and DaemonSets that an installation consists of, as far as their readiness goes. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Kind } from '../runtime/client.js';

export interface Workload extends KubernetesObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: {
    readonly observedGeneration?: number;
    /** Deployments. */
    readonly updatedReplicas?: number;
    readonly readyReplicas?: number;
    /** DaemonSets. */
    readonly desiredNumberScheduled?: number;
    readonly updatedNumberScheduled?: number;
    readonly numberReady?: number;
  };
}

export const installationSelector = 'app.kubernetes.io/name=nativirt';

function kind(name: string, resource: string): Kind<Workload> {
  return { group: 'apps', version: 'v1', kind: name, resource, namespaced: true };
}

export const deployments = kind('Deployment', 'deployments');
export const daemonSets = kind('DaemonSet', 'daemonsets');

export interface Readiness {
  readonly name: string;
  /** As many as there should be answer. */
  readonly ready: boolean;
  /** All of them are of the present template. */
  readonly updated: boolean;
}

export function readinessOf({ metadata, spec, status = {} }: Workload): Readiness {
  const { desiredNumberScheduled, observedGeneration = 0 } = status;
  const wanted = desiredNumberScheduled ?? spec?.replicas ?? 1;
  const updated = status.updatedNumberScheduled ?? status.updatedReplicas ?? 0;
  return {
    name: metadata.name,
    ready: (status.numberReady ?? status.readyReplicas ?? 0) >= wanted,
    updated: observedGeneration >= (metadata.generation ?? 0) && updated >= wanted,
  };
}
