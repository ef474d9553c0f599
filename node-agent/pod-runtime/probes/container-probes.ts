/** The probes of a launcher's container. */
import type { Pod } from '../../../openapi/generated/types/core_v1.js';
import type { Clock } from '../../../controllers/runtime/clock.js';
import type { EventRecorder } from '../../../controllers/runtime/event-recorder.js';
import { computeOf } from '../../pod-readiness.js';
import { check, type ProbeTarget } from './check.js';
import { runProber } from './prober.js';

export interface ContainerProbesOptions {
  readonly pod: Pod;
  readonly target: ProbeTarget;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  /** When the container started, by `clock.now()`. */
  readonly startedAt: number;
  /** Whether it was ready when an agent looked last. */
  readonly wasReady: boolean;
  readonly onReady: (ready: boolean) => void;
  /** The container is to be ended within the grace period. */
  readonly onDead: (graceMilliseconds: number) => void;
}

const defaultGraceSeconds = 30;

/** Until the signal aborts. A container without a readiness probe is none of its business: it is ready while it runs. */
export async function runContainerProbes(
  options: ContainerProbesOptions,
  signal: AbortSignal,
): Promise<void> {
  const { pod, target, clock, recorder, startedAt, wasReady, onReady, onDead } = options;
  const container = computeOf(pod);
  if (container === undefined) return;
  const { readinessProbe: readiness, livenessProbe: liveness } = container;
  const unhealthy = (which: string) => (reason: string) =>
    recorder.event(pod, 'Warning', 'Unhealthy', `${which} probe failed: ${reason}`);
  const proberOf = (probe: NonNullable<typeof readiness>) => ({
    probe,
    clock,
    startedAt,
    check: (stop: AbortSignal) => check(probe, container, target, stop),
  });
  await Promise.all([
    readiness &&
      runProber(
        {
          ...proberOf(readiness),
          initial: wasReady,
          onFailure: unhealthy('Readiness'),
          onChange: (succeeds) => onReady(succeeds),
        },
        signal,
      ),
    liveness &&
      runProber(
        {
          ...proberOf(liveness),
          initial: true,
          onFailure: unhealthy('Liveness'),
          onChange: (succeeds) => {
            const seconds = liveness.terminationGracePeriodSeconds ?? pod.spec?.terminationGracePeriodSeconds;
            if (!succeeds) onDead((seconds ?? defaultGraceSeconds) * 1000);
          },
        },
        signal,
      ),
  ]);
}
