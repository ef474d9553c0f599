/** How a new design reaches the running instances of a pool. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { VirtualMachinePoolSpec } from '../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { conditionTypes, labels, phases } from '../constants.js';
import { isConditionTrue } from '../runtime/conditions.js';
import { runStrategyOf } from '../virtual-machine/run-strategy.js';
import { isFinal } from '../virtual-machine/start-failure.js';
import { numbered, type NamedDesign } from './machine.js';
import type { Machine } from './machines.js';

/** `restart`: the instance is not as its VM is now. `remake`: its disks are not either. */
export type Step = 'restart' | 'remake';

/** Undefined: the instance is as it should be, or will not be touched. */
export function stepFor(
  { vm, vmi }: Machine,
  find: (revision: string | undefined) => NamedDesign | undefined,
): Step | undefined {
  if (vmi === undefined || vmi.metadata.deletionTimestamp !== undefined || isFinal(vmi)) return undefined;
  if (!['Always', 'RerunOnFailure', 'Manual'].includes(runStrategyOf(vm))) return undefined;
  const wanted = vm.metadata.labels?.[labels.poolRevision];
  const actual = vmi.metadata.labels?.[labels.poolRevision];
  const design = find(wanted)?.design;
  if (wanted === actual || design === undefined) return undefined;
  const former = find(actual)?.design;
  // Nobody knows what it was made from.
  if (former === undefined) return 'restart';
  const [before, after] = [numbered(former, 0), numbered(design, 0)];
  if (!isDeepStrictEqual(before.dataVolumeTemplates, after.dataVolumeTemplates)) return 'remake';
  return isDeepStrictEqual(before.template, after.template) ? undefined : 'restart';
}

/** Whether the guest serves. */
export function isAvailable(vmi: VirtualMachineInstance | undefined): boolean {
  return (
    vmi?.metadata.deletionTimestamp === undefined &&
    vmi?.status?.phase === phases.running &&
    isConditionTrue(vmi.status.conditions, conditionTypes.ready)
  );
}

/** Meant to serve, and does not. One that its user has stopped, or that ended as it was meant to, holds up nothing. */
export function isDown({ vm, vmi }: Machine): boolean {
  if (isAvailable(vmi)) return false;
  return runStrategyOf(vm) === 'Always' || (vmi !== undefined && !isFinal(vmi));
}

/** How many VMs may be down while a design rolls out: at least one, or nothing would ever change. */
export function mostUnavailable({ maxUnavailable = '100%', replicas = 1 }: VirtualMachinePoolSpec): number {
  const number =
    typeof maxUnavailable === 'number'
      ? maxUnavailable
      : Math.floor((replicas * Number.parseInt(maxUnavailable, 10)) / 100);
  return Math.max(1, number);
}
