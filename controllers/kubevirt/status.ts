/** What the KubeVirt object says about its installation. */
import type { KubeVirt, KubeVirtStatus } from '../../openapi/generated/types/kubevirt_v1.js';
import { withCondition, type WantedCondition } from '../runtime/conditions.js';
import { readinessOf, type Workload } from './workloads.js';

/** `now` in milliseconds. */
export function nextStatus(
  { metadata, status = {} }: KubeVirt,
  workloads: readonly Workload[],
  version: string,
  now: number,
): KubeVirtStatus {
  const states = workloads.map(readinessOf);
  const names = (of: typeof states): string =>
    of
      .map(({ name }) => name)
      .sort()
      .join(', ');
  const unready = states.filter(({ ready }) => !ready);
  const outdated = states.filter(({ updated }) => !updated);
  const available = workloads.length > 0 && unready.length === 0;
  const progressing = outdated.length > 0;
  const settled = available && !progressing;
  const conditions: WantedCondition[] = [
    { type: 'Created', status: 'True', reason: 'AllResourcesCreated' },
    {
      type: 'Available',
      status: available ? 'True' : 'False',
      ...(available
        ? { reason: 'AllComponentsReady' }
        : { reason: 'ComponentsNotReady', message: `not ready: ${names(unready)}` }),
    },
    {
      type: 'Progressing',
      status: progressing ? 'True' : 'False',
      ...(progressing
        ? { reason: 'UpdateInProgress', message: `not up to date: ${names(outdated)}` }
        : { reason: 'AllComponentsUpdated' }),
    },
    {
      type: 'Degraded',
      status: available ? 'False' : 'True',
      reason: available ? 'AllComponentsReady' : 'ComponentsNotReady',
    },
  ];
  return {
    ...status,
    conditions: conditions.reduce((all, wanted) => withCondition(all, wanted, now), status.conditions ?? []),
    // What has been deployed once stays so.
    phase: settled || status.phase === 'Deployed' ? 'Deployed' : 'Deploying',
    operatorVersion: version,
    targetKubeVirtVersion: version,
    ...(settled ? { observedKubeVirtVersion: version } : {}),
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
  };
}
