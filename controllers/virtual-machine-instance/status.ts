/** The whole status of a VMI, from what is observed. Fields of the node agent are carried over. */
import { bytesToQuantity } from '../../openapi/quantity.js';
import type { PersistentVolumeClaim, Pod } from '../../openapi/generated/types/core_v1.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
  VirtualMachineInstanceStatus,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { conditionTypes, guestNotRunning, phases, reasons } from '../constants.js';
import { memoryOverhead } from '../launcher-pod/overhead.js';
import { cpuTopology } from '../../openapi/cpu-topology.js';
import { guestMemory } from '../launcher-pod/topology.js';
import {
  findCondition,
  withCondition,
  withoutCondition,
  type AnyCondition,
  type WantedCondition,
} from '../runtime/conditions.js';
import { startRevisionOf } from '../virtual-machine/start-revisions.js';
import { withTransition, type Transition } from './phase.js';
import { isPodFinal, isPodReady, schedulingProblem, waitingProblem, type Problem } from './pod-state.js';
import { nextVolumeStatus } from './volume-status.js';

export interface StatusInput {
  readonly vmi: VirtualMachineInstance;
  readonly pod: Pod | undefined;
  readonly transition: Transition;
  /** Why its pod can not be made. */
  readonly problem: Problem | undefined;
  /** By volume name. */
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly configuration: KubeVirtConfiguration;
  /** Of its VSOCK device, if it has one. */
  readonly contextId: number | undefined;
  /** Milliseconds. */
  readonly now: number;
}

export function nextStatus(input: StatusInput): VirtualMachineInstanceStatus {
  const { vmi, transition, now } = input;
  const before = vmi.status ?? {};
  const phase = nextPhase(input);
  const starting = !isHandedOver(before.phase);
  return {
    ...before,
    phase,
    phaseTransitionTimestamps: withTransition(vmi, phase, now),
    ...(transition.kind === 'fail' ? { reason: transition.why.reason } : {}),
    ...podFields(input, phase),
    ...(starting ? startingFields(input) : {}),
    conditions: nextConditions(input, phase),
  };
}

function nextPhase({ vmi, transition }: StatusInput): string {
  switch (transition.kind) {
    case 'enter':
      return transition.phase;
    case 'fail':
      return phases.failed;
    case 'stay':
    case 'wait':
      return vmi.status?.phase ?? phases.pending;
  }
}

/** From Scheduled on the node agent owns the status. */
export function isHandedOver(phase: string | undefined): boolean {
  switch (phase) {
    case undefined:
    case '':
    case phases.pending:
    case phases.scheduling:
      return false;
    default:
      return true;
  }
}

function podFields({ vmi, pod }: StatusInput, phase: string): VirtualMachineInstanceStatus {
  if (pod === undefined) return {};
  const { activePods = {}, nodeName } = vmi.status ?? {};
  const node = pod.spec?.nodeName;
  const scheduled = phase === phases.scheduled && node !== undefined;
  // Where the pod is bound to is told once, together with Scheduled: not in a write of its own.
  const place = scheduled ? node : (activePods[pod.metadata.uid] ?? '');
  const qosClass = pod.status?.qosClass;
  return {
    activePods: { ...activePods, [pod.metadata.uid]: place },
    ...(scheduled && nodeName === undefined ? { nodeName: node } : {}),
    ...(scheduled && qosClass !== undefined ? { qosClass } : {}),
  };
}

function startingFields({
  vmi,
  claims,
  configuration,
  contextId,
}: StatusInput): VirtualMachineInstanceStatus {
  const { domain } = vmi.spec;
  const bytes = guestMemory(domain);
  const guest = bytesToQuantity(bytes);
  const volumeStatus = nextVolumeStatus(vmi, claims);
  const virtualMachineRevisionName = vmi.status?.virtualMachineRevisionName ?? startRevisionOf(vmi);
  return {
    currentCPUTopology: cpuTopology(domain),
    memory: {
      guestAtBoot: guest,
      guestCurrent: guest,
      guestRequested: guest,
      memoryOverhead: bytesToQuantity(memoryOverhead(vmi, bytes, configuration)),
    },
    ...(volumeStatus === undefined ? {} : { volumeStatus }),
    ...(contextId === undefined ? {} : { VSOCKCID: contextId }),
    ...(virtualMachineRevisionName === undefined ? {} : { virtualMachineRevisionName }),
  };
}

function nextConditions(input: StatusInput, phase: string): AnyCondition[] {
  const { vmi, pod, now } = input;
  let conditions: AnyCondition[] = [...(vmi.status?.conditions ?? [])];
  const ready = readiness(input, phase);
  if (ready !== undefined) conditions = withCondition(conditions, ready, now);
  const unscheduled = pod === undefined ? undefined : schedulingProblem(pod);
  conditions =
    unscheduled === undefined
      ? withoutCondition(conditions, conditionTypes.podScheduled)
      : withCondition(
          conditions,
          { type: conditionTypes.podScheduled, status: 'False', ...unscheduled },
          now,
        );
  return synchronized(input, conditions);
}

/** Once the node agent has taken over, whether the spec is in force is for it to say. */
function synchronized({ vmi, pod, problem, now }: StatusInput, conditions: AnyCondition[]): AnyCondition[] {
  if (isHandedOver(vmi.status?.phase)) return conditions;
  const type = conditionTypes.synchronized;
  const hindrance = problem ?? (pod === undefined ? undefined : waitingProblem(pod));
  return hindrance === undefined
    ? withoutCondition(conditions, type)
    : withCondition(conditions, { type, status: 'False', ...hindrance }, now);
}

/** Undefined: the condition stays as the node agent left it. */
function readiness({ vmi, pod, transition }: StatusInput, phase: string): WantedCondition | undefined {
  const type = conditionTypes.ready;
  const present = findCondition(vmi.status?.conditions, type);
  const not = (reason: string, message: string): WantedCondition => ({
    type,
    status: 'False',
    reason,
    message,
  });
  if (transition.kind === 'fail') return not(transition.why.reason, transition.why.message);
  if (phase === phases.succeeded || phase === phases.failed)
    return present?.status === 'True' ? not(reasons.guestNotRunning, 'the guest has ended') : undefined;
  if (phase !== phases.running) return present?.status === 'True' ? undefined : guestNotRunning;
  // That it is being deleted says it all; the next word is how it ended.
  if (vmi.metadata.deletionTimestamp !== undefined) return undefined;
  if (pod === undefined) return not(reasons.podNotExists, 'the launcher pod does not exist');
  if (pod.metadata.deletionTimestamp !== undefined)
    return not(reasons.podTerminating, 'the launcher pod is being deleted');
  if (isPodFinal(pod)) return undefined;
  const podReady = findCondition(pod.status?.conditions, 'Ready');
  if (podReady?.status === 'False' && podReady.reason === nodeNotReady)
    return not(nodeNotReady, podReady.message ?? 'the node has stopped reporting');
  const ours = present === undefined || takenBack.has(present.reason ?? '');
  return ours && present?.status !== 'True' && isPodReady(pod) ? { type, status: 'True' } : undefined;
}

/** Set on pods of a node whose agent has gone silent. */
const nodeNotReady = 'NodeNotReady';
/** Reasons of this controller: it takes them back when they no longer hold. */
const takenBack = new Set<string>([reasons.guestNotRunning, reasons.podTerminating, nodeNotReady]);
