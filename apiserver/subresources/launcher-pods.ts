/** Launcher pods, as far as the subresources need them. In a cluster they live in kube-apiserver, standalone beside us. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { ApiError } from '../errors/api-error.js';
import type { Registry } from '../registry/registry.js';
import { serverActor } from './server-user.js';

export interface LauncherPods {
  /** Ends the pods of a VMI without waiting for the guest. */
  deleteNow(vmi: VirtualMachineInstance, signal: AbortSignal): Promise<void>;
}

export const createdByLabel = 'kubevirt.io/created-by';

export function registryLauncherPods(registry: () => Pick<Registry, 'list' | 'delete'>): LauncherPods {
  return {
    async deleteNow({ metadata }) {
      const pods = await registry().list<Pod>('', 'pods', metadata.namespace);
      for (const pod of pods) {
        if (pod.metadata.labels?.[createdByLabel] !== metadata.uid) continue;
        const target = {
          group: '',
          resource: 'pods',
          namespace: pod.metadata.namespace,
          name: pod.metadata.name,
        };
        try {
          await registry().delete(target, { gracePeriodSeconds: 0 }, serverActor(undefined, false));
        } catch (error) {
          if (!(error instanceof ApiError) || error.reason !== 'NotFound') throw error;
        }
      }
    },
  };
}
