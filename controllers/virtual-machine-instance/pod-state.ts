/** What a launcher pod tells about itself. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import { computeContainer } from '../../openapi/launcher/pod.js';
import { parseTerminationMessage } from '../../openapi/launcher/termination.js';
import { findCondition } from '../runtime/conditions.js';

export interface Problem {
  readonly reason: string;
  readonly message: string;
}

export function isPodFinal(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}

/** Its launcher waits for the node agent to give it the VMI. Whether that container is ready may be for a probe of the guest to say. */
export function isPodReady(pod: Pod): boolean {
  return (
    pod.metadata.deletionTimestamp === undefined &&
    pod.status?.phase === 'Running' &&
    (pod.status.containerStatuses ?? []).every(({ name, ready, state }) =>
      name === computeContainer ? state?.running !== undefined : ready,
    )
  );
}

/** Waiting for these is the normal course of things. */
const ordinaryWaits = new Set(['ContainerCreating', 'PodInitializing']);

/** Why a container can not start: an image, a secret, a claim. */
export function waitingProblem(pod: Pod): Problem | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  for (const { name, state } of [...initContainerStatuses, ...containerStatuses]) {
    const reason = state?.waiting?.reason;
    if (reason === undefined || ordinaryWaits.has(reason)) continue;
    return { reason, message: state?.waiting?.message ?? `container ${name} is waiting: ${reason}` };
  }
  return undefined;
}

/** The scheduler found no node. */
export function schedulingProblem(pod: Pod): Problem | undefined {
  const condition = findCondition(pod.status?.conditions, 'PodScheduled');
  if (condition?.status !== 'False') return undefined;
  return { reason: condition.reason ?? 'Unschedulable', message: condition.message ?? '' };
}

/** How a pod that has ended came to its end. */
export function endOf(pod: Pod): Problem {
  const compute = pod.status?.containerStatuses?.find(({ name }) => name === computeContainer);
  const ended = compute?.state?.terminated;
  const last = parseTerminationMessage(ended?.message);
  const reason = last?.reason ?? pod.status?.reason ?? ended?.reason ?? 'PodFailed';
  const detail = last?.message ?? pod.status?.message ?? ended?.message;
  const message = `launcher pod ${pod.metadata.name} has ended${detail === undefined ? '' : `: ${detail}`}`;
  return { reason, message };
}
