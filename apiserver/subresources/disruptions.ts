/** How many of a budget's pods may go now. Standalone has no controller that counts them, so this counts when it is asked. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { PodDisruptionBudget } from '../../openapi/generated/types/policy_v1.js';

export interface Disruptions {
  readonly allowed: number;
  /** Pods that must stay healthy. */
  readonly desired: number;
  readonly healthy: number;
}

/** `pods` are those that the budget selects. */
export function disruptionsAllowed({ spec }: PodDisruptionBudget, pods: readonly Pod[]): Disruptions {
  const expected = pods.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
  const healthy = expected.filter(isHealthy).length;
  const desired =
    spec?.maxUnavailable === undefined
      ? share(spec?.minAvailable ?? 0, expected.length)
      : Math.max(0, expected.length - share(spec.maxUnavailable, expected.length));
  return { allowed: Math.max(0, healthy - desired), desired, healthy };
}

function isHealthy({ metadata, status }: Pod): boolean {
  return (
    metadata.deletionTimestamp === undefined &&
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true
  );
}

/** A number of pods, or a percentage of them rounded up. */
function share(amount: number | string, total: number): number {
  if (typeof amount === 'number') return amount;
  const percent = /^(\d+)%$/.exec(amount)?.[1];
  return percent === undefined ? Number(amount) || 0 : Math.ceil((Number(percent) * total) / 100);
}
