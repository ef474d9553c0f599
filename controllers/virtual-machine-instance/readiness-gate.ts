/** The readiness gate of launcher pods: what selects pods, a Service above all, sends nothing to a guest that is paused. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { unpausedGate } from '../../openapi/launcher/pod.js';
import { conditionTypes, phases } from '../constants.js';
import { findCondition, isConditionTrue, withCondition } from '../runtime/conditions.js';
import { isPodFinal } from './pod-state.js';

/** The status that the pod ought to have; undefined if nothing is to be said. `now` in milliseconds. */
export function gatedStatus(
  { metadata, status }: VirtualMachineInstance,
  pod: Pod,
  now: number,
): Pod['status'] | undefined {
  if (isPodFinal(pod) || status?.phase !== phases.running) return undefined;
  if (metadata.deletionTimestamp !== undefined || pod.metadata.deletionTimestamp !== undefined)
    return undefined;
  const wanted = isConditionTrue(status.conditions, conditionTypes.paused) ? paused : unpaused;
  if (findCondition(pod.status?.conditions, unpausedGate)?.status === wanted.status) return undefined;
  return { ...pod.status, conditions: withCondition(pod.status?.conditions, wanted, now) };
}

const paused = {
  type: unpausedGate,
  status: 'False',
  reason: 'Paused',
  message: 'the virtual machine is paused',
} as const;
const unpaused = {
  type: unpausedGate,
  status: 'True',
  reason: 'NotPaused',
  message: 'the virtual machine is not paused',
} as const;
