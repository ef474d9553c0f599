/** What is said of the VMIs of a node that nobody hears of. Pure. */
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceStatus,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { conditionTypes, phases, reasons } from '../constants.js';
import { isConditionTrue, withCondition } from '../runtime/conditions.js';
import { withTransition } from '../virtual-machine-instance/phase.js';

/** It has been given to a node agent, and has not ended. */
export function isOnNode({ status }: VirtualMachineInstance): boolean {
  return status?.phase === phases.scheduled || status?.phase === phases.running;
}

/** Undefined if it is not known to be ready anyway. */
export function unknownStatus(
  vmi: VirtualMachineInstance,
  message: string,
  now: number,
): VirtualMachineInstanceStatus | undefined {
  const conditions = vmi.status?.conditions;
  if (!isConditionTrue(conditions, conditionTypes.ready)) return undefined;
  const reason = reasons.nodeUnresponsive;
  const unknown = { type: conditionTypes.ready, status: 'Unknown', reason, message } as const;
  return { ...vmi.status, conditions: withCondition(conditions, unknown, now) };
}

export function failedStatus(
  vmi: VirtualMachineInstance,
  message: string,
  now: number,
): VirtualMachineInstanceStatus {
  const reason = reasons.nodeUnresponsive;
  const unready = { type: conditionTypes.ready, status: 'False', reason, message } as const;
  return {
    ...vmi.status,
    phase: phases.failed,
    phaseTransitionTimestamps: withTransition(vmi, phases.failed, now),
    reason,
    conditions: withCondition(vmi.status?.conditions, unready, now),
  };
}
