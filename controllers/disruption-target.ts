/** Removal of pods by the control plane: their condition `DisruptionTarget` says why, and they end in their own time. */
import type { Pod } from '../openapi/generated/types/core_v1.js';
import type { Client } from './runtime/client.js';
import type { Clock } from './runtime/clock.js';
import { withCondition } from './runtime/conditions.js';
import { isConflict, isNotFound } from './runtime/errors.js';
import { pods } from './runtime/kinds.js';
import { patchStatus } from './runtime/writes.js';

export interface DisruptionCause {
  readonly reason: string;
  readonly message: string;
}

/** False: it has changed or gone, or goes already. Whoever wants it away looks again at its next event. */
export async function disruptPod(
  client: Client,
  pod: Pod,
  cause: DisruptionCause,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  const { uid, deletionTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined) return false;
  const target = { type: 'DisruptionTarget', status: 'True', ...cause } as const;
  const conditions = withCondition(pod.status?.conditions, target, clock.now());
  try {
    await patchStatus(client, pods, pod, { ...pod.status, conditions }, signal);
    await client.delete(pods, pod.metadata, { preconditions: { uid } }, signal);
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return false;
    throw error;
  }
  return true;
}
