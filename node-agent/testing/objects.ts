/** Objects for tests: a VMI and the launcher pod that its controller would make, and what is configured. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type {
  KubeVirt,
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { New } from '../../openapi/meta.js';

export const namespace = 'default';
export const nodeName = 'node-1';

export function newVmi(
  name: string,
  spec: Partial<VirtualMachineInstance['spec']> = {},
): New<VirtualMachineInstance> {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace, name },
    spec: { domain: { devices: {}, memory: { guest: '128Mi' } }, terminationGracePeriodSeconds: 30, ...spec },
  };
}

export function newPod(
  vmi: VirtualMachineInstance,
  {
    name = `virt-launcher-${vmi.metadata.name}`,
    ...spec
  }: { name?: string } & Partial<NonNullable<Pod['spec']>> = {},
): New<Pod> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name,
      labels: { 'kubevirt.io': 'virt-launcher', 'kubevirt.io/created-by': vmi.metadata.uid },
      annotations: { 'kubevirt.io/domain': vmi.metadata.name },
      ownerReferences: [
        {
          apiVersion: 'kubevirt.io/v1',
          kind: 'VirtualMachineInstance',
          name: vmi.metadata.name,
          uid: vmi.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: { nodeName, restartPolicy: 'Never', containers: [{ name: 'compute', image: 'launcher' }], ...spec },
  };
}

export function newKubeVirt(configuration: KubeVirtConfiguration): New<KubeVirt> {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { namespace: 'kubevirt', name: 'kubevirt' },
    spec: { configuration },
  };
}
