/** How long instances take to come to their phases, under KubeVirt's published names. Each change of phase is observed once. */
import { Histogram, type Registry } from 'prom-client';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { Informer } from '../runtime/informer.js';

const buckets = [0.5, 1, 2.5, 5, 7.5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600];

export function registerTransitionTimes(
  registry: Registry,
  instances: Informer<VirtualMachineInstance>,
): void {
  const histogram = <L extends string>(
    suffix: string,
    help: string,
    labelNames: readonly L[],
  ): Histogram<L> =>
    new Histogram({
      name: `kubevirt_vmi_phase_transition_time_${suffix}`,
      help,
      labelNames,
      buckets,
      registers: [registry],
    });
  const between = histogram('seconds', 'Time from one phase of an instance to the next.', [
    'phase',
    'last_phase',
  ]);
  const fromCreation = histogram(
    'from_creation_seconds',
    'Time from the creation of an instance until it comes to a phase.',
    ['phase'],
  );
  const fromDeletion = histogram(
    'from_deletion_seconds',
    'Time from when the deletion of an instance was asked for until it comes to a phase.',
    ['phase'],
  );
  instances.addHandler({
    update(before, now) {
      const phase = now.status?.phase;
      const last = before.status?.phase;
      if (phase === undefined || phase === last) return;
      const reached = timeOf(now, phase);
      const observe = (since: number, note: (seconds: number) => void): void => {
        if (reached >= since) note((reached - since) / 1000);
      };
      const { creationTimestamp, deletionTimestamp } = now.metadata;
      observe(Date.parse(creationTimestamp), (seconds) => fromCreation.observe({ phase }, seconds));
      if (last !== undefined)
        observe(timeOf(now, last), (seconds) => between.observe({ phase, last_phase: last }, seconds));
      if (deletionTimestamp !== undefined)
        observe(Date.parse(deletionTimestamp), (seconds) => fromDeletion.observe({ phase }, seconds));
    },
  });
}

/** When an instance came to a phase, in milliseconds; NaN where its status does not say. */
function timeOf({ status }: VirtualMachineInstance, phase: string): number {
  const reached = status?.phaseTransitionTimestamps?.findLast((each) => each.phase === phase);
  return Date.parse(reached?.phaseTransitionTimestamp ?? '');
}
