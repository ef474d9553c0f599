/** The budget of one VMI. Pure. */
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { PodDisruptionBudget } from '../../openapi/generated/types/policy_v1.js';
import type { New } from '../../openapi/meta.js';
import { labels } from '../constants.js';
import { isProtected } from '../eviction-strategy.js';
import { isMigrating } from '../migrations.js';
import { controllerReference } from '../runtime/writes.js';
import { isFinal } from '../virtual-machine/start-failure.js';

/** One for each VMI, by UID: a controller that starts anew can not make a second one. */
export function budgetName({ metadata }: VirtualMachineInstance): string {
  return `kubevirt-disruption-budget-${metadata.uid}`;
}

export function needsBudget(vmi: VirtualMachineInstance, configuration: KubeVirtConfiguration): boolean {
  return vmi.metadata.deletionTimestamp === undefined && !isFinal(vmi) && isProtected(vmi, configuration);
}

/** While a guest migrates, its source and its target are needed. */
export function minAvailable(vmi: VirtualMachineInstance): number {
  return isMigrating(vmi) ? 2 : 1;
}

export function budgetOf(
  vmi: VirtualMachineInstance,
): New<PodDisruptionBudget> & { metadata: { name: string } } {
  const { namespace, uid } = vmi.metadata;
  const created = { [labels.createdBy]: uid };
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: {
      name: budgetName(vmi),
      ...(namespace === undefined ? {} : { namespace }),
      labels: created,
      ownerReferences: [controllerReference(vmi)],
    },
    spec: { minAvailable: minAvailable(vmi), selector: { matchLabels: created } },
  };
}
