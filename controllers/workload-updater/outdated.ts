/** Which VMIs run in a launcher of another version, and what may be done about it. Pure. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { isMarked } from '../evacuation/leaving.js';
import { evictionStrategyOf, isMigratable } from '../eviction-strategy.js';
import { isMigrating } from '../migrations.js';
import { phases } from '../constants.js';
import { isPodFinal } from '../virtual-machine-instance/pod-state.js';

/** Undefined: it has no launcher that runs. */
export function isOutdated(launchers: readonly Pod[], launcherImage: string): boolean | undefined {
  const images = launchers
    .filter((pod) => !isPodFinal(pod) && pod.metadata.deletionTimestamp === undefined)
    .flatMap((pod) => pod.spec?.containers.find(({ name }) => name === 'compute')?.image ?? []);
  return images.length === 0 ? undefined : images.some((image) => image !== launcherImage);
}

/**
 * An eviction of its launcher gives it a new one: it is shut down and started again, or whoever its strategy names moves it.
 * One that must migrate and can not would only be refused; one that can is left to a migration where the cluster prefers that.
 */
export function mayBeEvicted(
  vmi: VirtualMachineInstance,
  methods: readonly string[],
  configuration: KubeVirtConfiguration,
): boolean {
  if (!methods.includes('Evict')) return false;
  if (vmi.metadata.deletionTimestamp !== undefined || vmi.status?.phase !== phases.running) return false;
  if (isMarked(vmi) || isMigrating(vmi)) return false;
  if (isMigratable(vmi)) return !methods.includes('LiveMigrate');
  return evictionStrategyOf(vmi, configuration) !== 'LiveMigrate';
}
