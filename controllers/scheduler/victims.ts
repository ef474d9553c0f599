/** Removes pods that stand in the way of more important ones. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import { disruptPod } from '../disruption-target.js';
import type { Client } from '../runtime/client.js';
import type { Clock } from '../runtime/clock.js';
import type { EventRecorder } from '../runtime/event-recorder.js';

const cause = {
  reason: 'PreemptionByScheduler',
  message: 'default-scheduler: preempting to accommodate a higher priority pod',
} as const;

export class Victims {
  constructor(
    private readonly client: Client,
    private readonly recorder: EventRecorder,
    private readonly clock: Clock,
  ) {}

  /** It ends in its own time, as any pod that is deleted. The next look tells whether it still stands in the way. */
  async remove(victim: Pod, pod: Pod, node: string, signal: AbortSignal): Promise<void> {
    if (!(await disruptPod(this.client, victim, cause, this.clock, signal))) return;
    const message = `Preempted by pod ${pod.metadata.uid} on node ${node}`;
    this.recorder.event(victim, 'Normal', 'Preempted', message);
  }
}
