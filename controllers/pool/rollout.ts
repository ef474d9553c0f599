/** How a new design reaches the running instances of a pool. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { VirtualMachinePoolSpec } from '../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { annotations, conditionTypes, labels, phases } from '../constants.js';
import { isConditionTrue } from '../runtime/conditions.js';
import { runStrategyOf } from '../virtual-machine/run-strategy.js';
import { isFinal } from '../virtual-machine/start-failure.js';
import { disksDigest, numbered, type Design, type NamedDesign } from './machine.js';
import type { Machine } from './machines.js';

/** `restart`: the instance is not as its VM is now. `remake`: the disks are not. */
export type Step = 'restart' | 'remake';

/** Undefined: the machine is as it should be, or will not be touched. */
export function stepFor(
  machine: Machine,
  find: (revision: string | undefined) => NamedDesign | undefined,
): Step | undefined {
  const { vm, vmi } = machine;
  const design = find(vm.metadata.labels?.[labels.poolRevision])?.design;
  if (design === undefined || vmi?.metadata.deletionTimestamp !== undefined) return undefined;
  if (vmi === undefined || isFinal(vmi))
    return (isDown(machine) || waitsForDisks(machine)) && hasOtherDisks(vm, design) ? 'remake' : undefined;
  if (!['Always', 'RerunOnFailure', 'Manual'].includes(runStrategyOf(vm))) return undefined;
  if (hasOtherDisks(vm, design)) return 'remake';
  const actual = vmi.metadata.labels?.[labels.poolRevision];
  if (vm.metadata.labels?.[labels.poolRevision] === actual) return undefined;
  const former = find(actual)?.design;
  // Nobody knows what it was made from.
  if (former === undefined) return 'restart';
  const [before, after] = [numbered(former, 0), numbered(design, 0)];
  return isDeepStrictEqual(before.template, after.template) ? undefined : 'restart';
}

/** Than a VM would have that is made now. */
function hasOtherDisks({ metadata }: VirtualMachine, design: Design): boolean {
  const digest = metadata.annotations?.[annotations.poolDisksDigest];
  return digest !== undefined && digest !== disksDigest(design);
}

/** Nothing was ever written to its disks. */
export function waitsForDisks({ vm, vmi }: Machine): boolean {
  const status = vm.status?.printableStatus;
  return vmi === undefined && (status === 'Provisioning' || status === 'DataVolumeError');
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
