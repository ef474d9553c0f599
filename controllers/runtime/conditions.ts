/** Conditions of a status: lists keyed by type. All functions return new lists. */
import { timestamp } from './clock.js';

export interface AnyCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  lastProbeTime?: string;
}

export interface WantedCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

export type Conditions = readonly AnyCondition[] | undefined;

export function findCondition(conditions: Conditions, type: string): AnyCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(conditions: Conditions, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}

/** Sets a condition; its transition time changes only with its status. `now` in milliseconds. */
export function withCondition(conditions: Conditions, wanted: WantedCondition, now: number): AnyCondition[] {
  const before = findCondition(conditions, wanted.type);
  const lastTransitionTime =
    before?.status === wanted.status && before.lastTransitionTime !== undefined
      ? before.lastTransitionTime
      : timestamp(now);
  const condition: AnyCondition = {
    ...(before?.lastProbeTime === undefined ? {} : { lastProbeTime: before.lastProbeTime }),
    lastTransitionTime,
    ...(wanted.message === undefined || wanted.message === '' ? {} : { message: wanted.message }),
    ...(wanted.reason === undefined || wanted.reason === '' ? {} : { reason: wanted.reason }),
    status: wanted.status,
    type: wanted.type,
  };
  if (before === undefined) return [...(conditions ?? []), condition];
  return (conditions ?? []).map((existing) => (existing.type === wanted.type ? condition : existing));
}

export function withoutCondition(conditions: Conditions, type: string): AnyCondition[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}
