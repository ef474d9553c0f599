/**
 * The phases of a VMI, as far as they are this controller's:
 *
 *   (none), Pending → Scheduling: its pod exists
 *   Scheduling → Scheduled: its pod runs on a node, whose agent takes over
 *   Scheduled → Running → Succeeded | Failed: the node agent's
 *   any but the last two → Failed: the pod or its node is gone for good
 */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { phases, reasons } from '../constants.js';
import { timestamp } from '../runtime/clock.js';
import { endOf, isPodFinal, isPodReady, type Problem } from './pod-state.js';

export type Transition =
  | { readonly kind: 'stay' }
  | { readonly kind: 'enter'; readonly phase: string }
  | { readonly kind: 'fail'; readonly why: Problem }
  /** It looks lost, but the node agent may know better: look again after so many milliseconds. */
  | { readonly kind: 'wait'; readonly ms: number };

export interface PhaseInput {
  readonly vmi: VirtualMachineInstance;
  readonly pod: Pod | undefined;
  /** For how many milliseconds its pod has been seen ended or missing. */
  readonly lostFor: number;
}

/** The agent of the node writes how the guest ended soon after its pod has. */
const agentPatience = 10_000;

const stay: Transition = { kind: 'stay' };

export function nextTransition(input: PhaseInput): Transition {
  const { vmi, pod } = input;
  // What is on its way out goes nowhere else; above all it must not be handed to a node now.
  if (vmi.metadata.deletionTimestamp !== undefined) return stay;
  switch (vmi.status?.phase) {
    case phases.succeeded:
    case phases.failed:
      return stay;
    case undefined:
    case '':
    case phases.pending:
      return pod === undefined ? stay : beginning(pod);
    case phases.scheduling:
      return pod === undefined ? { kind: 'fail', why: podMissing } : starting(pod);
    default:
      return handedOver(input);
  }
}

/** Even if it runs already, as a controller that was away finds it: no phase is left out. */
function beginning(pod: Pod): Transition {
  return isPodFinal(pod) ? { kind: 'fail', why: endOf(pod) } : { kind: 'enter', phase: phases.scheduling };
}

function starting(pod: Pod): Transition {
  const ready = isPodReady(pod) && pod.spec?.nodeName !== undefined;
  return ready && !isPodFinal(pod) ? { kind: 'enter', phase: phases.scheduled } : beginning(pod);
}

function handedOver({ pod, lostFor }: PhaseInput): Transition {
  if (pod !== undefined && !isPodFinal(pod)) return stay;
  if (lostFor < agentPatience) return { kind: 'wait', ms: agentPatience - lostFor };
  return { kind: 'fail', why: pod === undefined ? podMissing : endOf(pod) };
}

const podMissing: Problem = {
  reason: reasons.podNotExists,
  message: 'the launcher pod has been deleted',
};

type Timestamps = NonNullable<NonNullable<VirtualMachineInstance['status']>['phaseTransitionTimestamps']>;

/** The history of phases with `phase` added; one that is there already keeps its time. */
export function withTransition(vmi: VirtualMachineInstance, phase: string, now: number): Timestamps {
  const before: Timestamps = vmi.status?.phaseTransitionTimestamps ?? [
    { phase: phases.pending, phaseTransitionTimestamp: vmi.metadata.creationTimestamp },
  ];
  if (before.some((entry) => entry.phase === phase)) return before;
  // The clock of who wrote the last one may be ahead of ours.
  const last = Date.parse(before.at(-1)?.phaseTransitionTimestamp ?? '');
  const at = Number.isNaN(last) ? now : Math.max(now, last);
  return [...before, { phase, phaseTransitionTimestamp: timestamp(at) }];
}
