/** Removes pods that stand in the way of more important ones. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { Client } from '../runtime/client.js';
import type { Clock } from '../runtime/clock.js';
import { withCondition } from '../runtime/conditions.js';
import { isConflict, isNotFound } from '../runtime/errors.js';
import type { EventRecorder } from '../runtime/event-recorder.js';
import { pods } from '../runtime/kinds.js';
import { patchStatus } from '../runtime/writes.js';

const disruptionTarget = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'PreemptionByScheduler',
  message: 'default-scheduler: preempting to accommodate a higher priority pod',
} as const;

export class Victims {
  constructor(
    private readonly client: Client,
    private readonly recorder: EventRecorder,
    private readonly clock: Clock,
  ) {}

  /** It ends in its own time, as any pod that is deleted. */
  async remove(victim: Pod, pod: Pod, node: string, signal: AbortSignal): Promise<void> {
    const { uid, deletionTimestamp } = victim.metadata;
    if (deletionTimestamp !== undefined) return;
    const conditions = withCondition(victim.status?.conditions, disruptionTarget, this.clock.now());
    try {
      await patchStatus(this.client, pods, victim, { ...victim.status, conditions }, signal);
      await this.client.delete(pods, victim.metadata, { preconditions: { uid } }, signal);
    } catch (error) {
      // It has changed or gone: the next look tells whether it still stands in the way.
      if (isNotFound(error) || isConflict(error)) return;
      throw error;
    }
    this.recorder.event(
      victim,
      'Normal',
      'Preempted',
      `Preempted by pod ${pod.metadata.uid} on node ${node}`,
    );
  }
}
