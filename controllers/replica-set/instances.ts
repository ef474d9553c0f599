/** What a replica set makes of the state of its instances. Pure. */
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { conditionTypes, phases, reasons } from '../constants.js';
import { findCondition, isConditionTrue } from '../runtime/conditions.js';
import { isFinal } from '../virtual-machine/start-failure.js';

/** `ended`: it will never serve again, and nobody has deleted it yet. `leaving`: it is being deleted. */
export type Standing = 'active' | 'ended' | 'leaving';

export function standingOf(vmi: VirtualMachineInstance): Standing {
  if (vmi.metadata.deletionTimestamp !== undefined) return 'leaving';
  if (isFinal(vmi)) return 'ended';
  const ready = findCondition(vmi.status?.conditions, conditionTypes.ready);
  return ready?.status === 'False' && ready.reason === reasons.podTerminating ? 'ended' : 'active';
}

export function isReady(vmi: VirtualMachineInstance): boolean {
  return isConditionTrue(vmi.status?.conditions, conditionTypes.ready);
}

const progress: readonly string[] = [
  phases.pending,
  phases.scheduling,
  phases.scheduled,
  phases.unknown,
  phases.running,
];

/**
 * The order in which active instances are given up: those that serve least first. By phase; then the unready, those that
 * have to leave their node, those that share it with most others, the youngest.
 */
export function inOrderOfDeletion(vmis: readonly VirtualMachineInstance[]): VirtualMachineInstance[] {
  const onNode = new Map<string, number>();
  for (const { status } of vmis) {
    const node = status?.nodeName ?? '';
    onNode.set(node, (onNode.get(node) ?? 0) + 1);
  }
  const rank = (vmi: VirtualMachineInstance): readonly number[] => [
    Math.max(0, progress.indexOf(vmi.status?.phase ?? '')),
    isReady(vmi) ? 1 : 0,
    (vmi.status?.evacuationNodeName ?? '') === '' ? 1 : 0,
    -(onNode.get(vmi.status?.nodeName ?? '') ?? 0),
    -Date.parse(vmi.metadata.creationTimestamp),
  ];
  return vmis
    .map((vmi) => ({ vmi, rank: rank(vmi) }))
    .sort((a, b) => compare(a.rank, b.rank) || (a.vmi.metadata.name < b.vmi.metadata.name ? -1 : 1))
    .map(({ vmi }) => vmi);
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, value] of a.entries()) {
    const difference = value - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
