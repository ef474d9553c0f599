/** What the controller says of a node whose agent has gone silent. Pure. */
import type { Node, Pod, Taint } from '../../openapi/generated/types/core_v1.js';
import { findCondition, withCondition, type AnyCondition } from '../runtime/conditions.js';

const silent = {
  status: 'Unknown',
  reason: 'NodeStatusUnknown',
  message: 'The node agent has stopped posting node status.',
} as const;

const reported = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

export function isKnownSilent({ status }: Node): boolean {
  return findCondition(status?.conditions, 'Ready')?.status === 'Unknown';
}

/** Conditions that its agent set are true no longer, nor false: nobody knows. */
export function unknownConditions({ status }: Node, now: number): AnyCondition[] {
  let conditions: AnyCondition[] = [...(status?.conditions ?? [])];
  for (const type of reported)
    if (type === 'Ready' || findCondition(conditions, type) !== undefined)
      conditions = withCondition(conditions, { type, ...silent }, now);
  return conditions;
}

const unreachable = 'node.kubernetes.io/unreachable';
const notReady = 'node.kubernetes.io/not-ready';

/** The taints that go with the node's Ready condition; undefined if it has them already. */
export function healthTaints({ spec, status }: Node): readonly Taint[] | undefined {
  const before = spec?.taints ?? [];
  const ready = findCondition(status?.conditions, 'Ready')?.status;
  const wanted = ready === 'True' ? undefined : ready === 'False' ? notReady : unreachable;
  const unwanted = before.some(({ key }) => (key === unreachable || key === notReady) && key !== wanted);
  const present = wanted === undefined || before.some(({ key }) => key === wanted);
  if (present && !unwanted) return undefined;
  const others = before.filter(({ key }) => key !== unreachable && key !== notReady);
  return wanted === undefined ? others : [...others, { key: wanted, effect: 'NoSchedule' }];
}

/** Readiness of a pod on a silent node; undefined if it says so already, or is not ready anyway. */
export function unreadyConditions({ status }: Pod, now: number): AnyCondition[] | undefined {
  if (findCondition(status?.conditions, 'Ready')?.status !== 'True') return undefined;
  const condition = {
    type: 'Ready',
    status: 'False',
    reason: 'NodeNotReady',
    message: 'the agent of its node has stopped reporting',
  } as const;
  return withCondition(status?.conditions, condition, now);
}
