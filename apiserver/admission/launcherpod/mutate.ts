/** Defaults of launcher pods, which both the server's own pods and those of a cluster get. */
import type { Container, Pod } from '../../../openapi/generated/types/core_v1.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import type { AdmissionLookups, AdmissionPlugin } from '../interface.js';
import { kindAdmission } from '../kind-rules.js';
import { appLabel, launcherApp } from './names.js';
import { missingVirtiofsContainers } from './virtiofs.js';

export function launcherPodDefaults(): AdmissionPlugin {
  return kindAdmission<Pod>({
    name: 'LauncherPodDefaults',
    group: '',
    resource: 'pods',
    async prepare(pod, { lookups, configuration }) {
      for (const container of await containersToAdd(pod, pod.metadata.namespace, lookups, configuration)) {
        pod.spec?.containers.push(container);
      }
    },
  });
}

/** Empty for pods that are no launcher's, or whose VMI is gone. A new pod may not say its namespace. */
export async function containersToAdd(
  pod: Pod,
  namespace: string | undefined,
  lookups: AdmissionLookups,
  configuration: KubeVirtConfiguration,
): Promise<readonly Container[]> {
  if (pod.metadata.labels?.[appLabel] !== launcherApp) return [];
  const owner = pod.metadata.ownerReferences?.find(
    ({ apiVersion, kind }) => apiVersion === 'kubevirt.io/v1' && kind === 'VirtualMachineInstance',
  );
  if (owner === undefined) return [];
  const vmi = await lookups.get<VirtualMachineInstance>(
    'kubevirt.io',
    'virtualmachineinstances',
    namespace,
    owner.name,
  );
  return vmi === undefined ? [] : missingVirtiofsContainers(pod, vmi, configuration);
}
