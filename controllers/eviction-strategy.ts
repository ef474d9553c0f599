/** What a VMI's eviction strategy means to controllers; admission of evictions (`apiserver/admission/podeviction`) decides by the same. */
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../openapi/generated/types/kubevirt_v1.js';
import { conditionTypes } from './constants.js';
import { isConditionTrue } from './runtime/conditions.js';

export function evictionStrategyOf(
  { spec }: VirtualMachineInstance,
  configuration: KubeVirtConfiguration,
): string {
  return spec.evictionStrategy ?? configuration.evictionStrategy ?? 'None';
}

export function isMigratable({ status }: VirtualMachineInstance): boolean {
  return isConditionTrue(status?.conditions, conditionTypes.liveMigratable);
}

/** An eviction of its pod may not end it. */
export function isProtected(vmi: VirtualMachineInstance, configuration: KubeVirtConfiguration): boolean {
  switch (evictionStrategyOf(vmi, configuration)) {
    case 'LiveMigrate':
    case 'External':
      return true;
    case 'LiveMigrateIfPossible':
      return isMigratable(vmi);
    default:
      return false;
  }
}
