/** The status that replica sets and pools share. */
import type { LabelMatcher } from '../openapi/selectors.js';
import { withCondition, withoutCondition, type AnyCondition } from './runtime/conditions.js';

export const replicaConditions = { failure: 'ReplicaFailure', paused: 'ReplicaPaused' } as const;

export interface ReplicaStatus {
  conditions?: AnyCondition[];
  labelSelector?: string;
  readyReplicas?: number;
  replicas?: number;
}

export interface ReplicaFailure {
  readonly reason: string;
  readonly message: string;
}

export interface ReplicaObservation {
  readonly replicas: number;
  readonly readyReplicas: number;
  readonly selector: LabelMatcher;
  /** Why the condition says that it is paused; undefined if it is not. */
  readonly paused: { readonly reason: string; readonly message: string } | undefined;
  /** Why there are not as many replicas as there should be, or not such as they should be. */
  readonly failure: ReplicaFailure | undefined;
  /** Milliseconds. */
  readonly now: number;
}

export function nextReplicaStatus(
  before: ReplicaStatus | undefined,
  { replicas, readyReplicas, selector, paused, failure, now }: ReplicaObservation,
): ReplicaStatus {
  let conditions: AnyCondition[] = before?.conditions ?? [];
  for (const [type, wanted] of [
    [replicaConditions.failure, failure],
    [replicaConditions.paused, paused],
  ] as const)
    conditions =
      wanted === undefined
        ? withoutCondition(conditions, type)
        : withCondition(conditions, { type, status: 'True', ...wanted }, now);
  return {
    ...(conditions.length === 0 ? {} : { conditions }),
    labelSelector: selector.toString(),
    readyReplicas,
    replicas,
  };
}
