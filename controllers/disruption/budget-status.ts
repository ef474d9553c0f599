/** What a PodDisruptionBudget's status says of its pods. Pure. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from '../../openapi/generated/types/policy_v1.js';
import { timestamp } from '../runtime/clock.js';
import { isConditionTrue } from '../runtime/conditions.js';

/** Milliseconds that an eviction has to delete its pod. */
const evictionTimeout = 120_000;

export interface BudgetReview {
  readonly status: PodDisruptionBudgetStatus;
  /** Milliseconds until an eviction that has come to nothing no longer counts; undefined if there is none. */
  readonly lapsesIn: number | undefined;
}

/**
 * @param pods those that the budget selects
 * @param now milliseconds
 */
export function reviewBudget(budget: PodDisruptionBudget, pods: readonly Pod[], now: number): BudgetReview {
  const { disruptedPods, lapsesIn } = pendingEvictions(budget, pods, now);
  const expected = pods.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
  const healthy = expected.filter((pod) => isHealthy(pod) && disruptedPods[pod.metadata.name] === undefined);
  const desiredHealthy = desiredOf(budget, expected.length);
  const disruptionsAllowed = Math.max(0, healthy.length - desiredHealthy);
  const { generation } = budget.metadata;
  return {
    status: {
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      ...(Object.keys(disruptedPods).length === 0 ? {} : { disruptedPods }),
      disruptionsAllowed,
      currentHealthy: healthy.length,
      desiredHealthy,
      expectedPods: expected.length,
      conditions: conditionsOf(budget, disruptionsAllowed > 0, now),
    },
    lapsesIn,
  };
}

/** Evicted by the API server, and not yet seen to be deleted: they must not be counted on. */
function pendingEvictions(
  { status }: PodDisruptionBudget,
  pods: readonly Pod[],
  now: number,
): { disruptedPods: Record<string, string>; lapsesIn: number | undefined } {
  const present = new Set(
    pods
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name),
  );
  const left = ([, since]: readonly [string, string]): number => Date.parse(since) + evictionTimeout - now;
  const pending = Object.entries(status?.disruptedPods ?? {}).filter(
    (entry) => present.has(entry[0]) && left(entry) > 0,
  );
  return {
    disruptedPods: Object.fromEntries(pending),
    lapsesIn: pending.length === 0 ? undefined : Math.min(...pending.map(left)),
  };
}

function desiredOf({ spec }: PodDisruptionBudget, expected: number): number {
  return spec?.maxUnavailable === undefined
    ? share(spec?.minAvailable ?? 0, expected)
    : Math.max(0, expected - share(spec.maxUnavailable, expected));
}

/** A number of pods, or a percentage of them rounded up. */
function share(amount: number | string, total: number): number {
  if (typeof amount === 'number') return amount;
  const percent = /^(\d+)%$/.exec(amount)?.[1];
  return percent === undefined ? Number(amount) || 0 : Math.ceil((Number(percent) * total) / 100);
}

function isHealthy({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && isConditionTrue(status?.conditions, 'Ready');
}

type Conditions = NonNullable<PodDisruptionBudgetStatus['conditions']>;

function conditionsOf({ metadata, status }: PodDisruptionBudget, allowed: boolean, now: number): Conditions {
  const type = 'DisruptionAllowed';
  const others = (status?.conditions ?? []).filter((condition) => condition.type !== type);
  const before = status?.conditions?.find((condition) => condition.type === type);
  const is = allowed ? 'True' : 'False';
  return [
    ...others,
    {
      type,
      status: is,
      reason: allowed ? 'SufficientPods' : 'InsufficientPods',
      message: '',
      ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
      lastTransitionTime: before?.status === is ? before.lastTransitionTime : timestamp(now),
    },
  ];
}
