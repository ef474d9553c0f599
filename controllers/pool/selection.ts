/** In which order the VMs of a pool are chosen, to be removed or restarted. */
import type { Node } from '../../openapi/generated/types/core_v1.js';
import type {
  VirtualMachinePoolSelectionPolicy,
  VirtualMachinePoolSelectors,
} from '../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import { compileLabelSelector } from '../../openapi/selectors.js';
import { matchesTerm } from '../scheduler/filters/node-affinity.js';
import type { Machine } from './machines.js';
import { ordinalOf } from './machine.js';
import { isConditionTrue } from '../runtime/conditions.js';
import { conditionTypes } from '../constants.js';

/** Those that the policy's selectors choose come first. Without a policy, those that are not ready do. */
export function inOrder(
  policy: VirtualMachinePoolSelectionPolicy | undefined,
  machines: readonly Machine[],
  nodeOf: (machine: Machine) => Node | undefined,
  random: () => number,
): Machine[] {
  const rank = sortKey(policy?.sortPolicy, random);
  const chosen = policy?.selectors === undefined ? undefined : chooser(policy.selectors, nodeOf);
  return machines
    .map((machine) => ({ machine, last: chosen?.(machine) === false ? 1 : 0, rank: rank(machine) }))
    .sort((a, b) => a.last - b.last || a.rank - b.rank || ordinalOf(a.machine.vm) - ordinalOf(b.machine.vm))
    .map(({ machine }) => machine);
}

function sortKey(
  policy: VirtualMachinePoolSelectionPolicy['sortPolicy'],
  random: () => number,
): (machine: Machine) => number {
  const age = ({ vm }: Machine): number => Date.parse(vm.metadata.creationTimestamp);
  switch (policy) {
    case 'AscendingOrder':
      return ({ vm }) => ordinalOf(vm);
    case 'DescendingOrder':
      return ({ vm }) => -ordinalOf(vm);
    case 'Newest':
      return (machine) => -age(machine);
    case 'Oldest':
      return age;
    case 'Random':
      return random;
    case undefined:
      return ({ vm }) => (isConditionTrue(vm.status?.conditions, conditionTypes.ready) ? 1 : 0) + random();
  }
}

/** All that is given must match. */
function chooser(
  { labelSelector, nodeSelectorRequirementMatcher = [] }: VirtualMachinePoolSelectors,
  nodeOf: (machine: Machine) => Node | undefined,
): (machine: Machine) => boolean {
  const matcher = labelSelector === undefined ? undefined : compileLabelSelector(labelSelector);
  return (machine) => {
    const { metadata, spec } = machine.vm;
    if (matcher?.matches({ ...spec.template.metadata?.labels, ...metadata.labels }) === false) return false;
    if (nodeSelectorRequirementMatcher.length === 0) return true;
    const node = nodeOf(machine);
    return node !== undefined && matchesTerm(node, { matchExpressions: nodeSelectorRequirementMatcher });
  };
}
