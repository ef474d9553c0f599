/** The status of a pod, from what the runtime knows about it. */
import type {
  Container,
  ContainerState,
  ContainerStatus,
  Pod,
  PodCondition,
  PodStatus,
} from '../../openapi/generated/types/core_v1.js';
import { computeContainer, unpausedGate } from '../../openapi/launcher/pod.js';
import { computeOf, computeStatus } from '../pod-readiness.js';
import { qosClass } from './qos-class.js';

export interface Waiting {
  readonly reason: string;
  readonly message?: string | undefined;
}

export interface Ended {
  readonly succeeded: boolean;
  readonly exitCode: number;
  /** CamelCase: `Completed`, `Error`, or the launcher's own word. */
  readonly reason: string;
  readonly message: string;
  /** RFC 3339. */
  readonly startedAt: string | undefined;
  readonly finishedAt: string;
}

export type PodState =
  /** Volumes and images are being prepared; `waiting` is by container, for those with more to say than usual. */
  | { readonly kind: 'Preparing'; readonly waiting: ReadonlyMap<string, Waiting> }
  | {
      readonly kind: 'Running';
      readonly startedAt: string;
      readonly images: ReadonlyMap<string, string>;
      /** Of the launcher's container: what its readiness probe says, true without one. */
      readonly ready: boolean;
    }
  | { readonly kind: 'Ended'; readonly ended: Ended }
  /** Never started: this runtime does not run such pods. */
  | { readonly kind: 'Rejected'; readonly reason: string; readonly message: string };

/** Of a pod whose launcher runs: what its status says already, if an agent has seen it before. */
export function runningState(
  pod: Pod,
  images: ReadonlyMap<string, string>,
  now: string,
): Extract<PodState, { kind: 'Running' }> {
  const compute = computeStatus(pod);
  if (pod.status?.phase !== 'Running') {
    const probed = computeOf(pod)?.readinessProbe !== undefined;
    return { kind: 'Running', images, startedAt: now, ready: !probed };
  }
  const startedAt = compute?.state?.running?.startedAt ?? now;
  return { kind: 'Running', images, startedAt, ready: compute?.ready !== false };
}

export interface StatusContext {
  /** RFC 3339. */
  readonly now: string;
  readonly startTime: string;
  /** Of the node. */
  readonly address: string;
  /** Of the pod, IPv4 first; undefined where it shares the node's network. */
  readonly podAddresses?: readonly string[] | undefined;
}

function containerState(container: Container, state: PodState): ContainerState {
  switch (state.kind) {
    case 'Preparing': {
      const { reason, message } = state.waiting.get(container.name) ?? { reason: 'ContainerCreating' };
      return { waiting: { reason, ...(message === undefined ? {} : { message }) } };
    }
    case 'Running':
      return { running: { startedAt: state.startedAt } };
    case 'Ended': {
      const { exitCode, reason, message, startedAt, finishedAt } = state.ended;
      const times = { finishedAt, ...(startedAt === undefined ? {} : { startedAt }) };
      // The other containers only held files.
      if (container.name !== computeContainer)
        return { terminated: { exitCode: 0, reason: 'Completed', ...times } };
      return { terminated: { exitCode, reason, message, ...times } };
    }
    case 'Rejected':
      return { waiting: { reason: 'ContainerCreating' } };
  }
}

function containerStatus(container: Container, state: PodState): ContainerStatus {
  const running = state.kind === 'Running';
  return {
    name: container.name,
    image: container.image ?? '',
    imageID: running ? (state.images.get(container.name) ?? '') : '',
    ready: running && (container.name !== computeContainer || state.ready),
    started: running,
    restartCount: 0,
    state: containerState(container, state),
  };
}

function phaseOf(state: PodState): 'Pending' | 'Running' | 'Succeeded' | 'Failed' {
  switch (state.kind) {
    case 'Preparing':
      return 'Pending';
    case 'Running':
      return 'Running';
    case 'Ended':
      return state.ended.succeeded ? 'Succeeded' : 'Failed';
    case 'Rejected':
      return 'Failed';
  }
}

/** A guest that has just started is not paused: said together with the rest, it costs no write of its own. */
const unpaused = {
  type: unpausedGate,
  status: 'True',
  reason: 'NotPaused',
  message: 'the virtual machine is not paused',
} as const;

function conditions(pod: Pod, state: PodState, now: string): PodCondition[] {
  const running = state.kind === 'Running';
  const why =
    running && state.ready ? {} : { reason: state.kind === 'Ended' ? 'PodCompleted' : 'ContainersNotReady' };
  const opened = running && hasGate(pod) && conditionOf(pod, unpausedGate) === undefined ? [unpaused] : [];
  const probed = running && state.ready;
  const ready = probed && (opened.length > 0 || !isGated(pod));
  const unready = running && state.ready ? { reason: 'ReadinessGatesNotReady' } : why;
  const wanted: PodCondition[] = [
    { type: 'PodScheduled', status: 'True' },
    { type: 'Initialized', status: 'True' },
    { type: 'ContainersReady', status: probed ? 'True' : 'False', ...why },
    { type: 'Ready', status: ready ? 'True' : 'False', ...(ready ? {} : unready) },
    ...opened,
  ];
  const before = pod.status?.conditions ?? [];
  const others = before.filter(({ type }) => !wanted.some((condition) => condition.type === type));
  const timed = wanted.map((condition) => {
    const same = before.find(({ type, status }) => type === condition.type && status === condition.status);
    return { ...condition, lastTransitionTime: same?.lastTransitionTime ?? now };
  });
  return [...timed, ...others];
}

const conditionOf = ({ status }: Pod, type: string): PodCondition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);

const hasGate = ({ spec }: Pod): boolean =>
  spec?.readinessGates?.some(({ conditionType }) => conditionType === unpausedGate) === true;

/** Somebody whom its readiness waits for has not agreed. */
function isGated(pod: Pod): boolean {
  return (pod.spec?.readinessGates ?? []).some(
    ({ conditionType }) => conditionOf(pod, conditionType)?.status !== 'True',
  );
}

/** Whether the status of a pod that runs says otherwise than it ought to: a gate has opened or closed, or it was marked by others. */
export function isReadinessStale(pod: Pod, state: PodState): boolean {
  const ready = conditionOf(pod, 'Ready')?.status === 'True';
  const ought = state.kind === 'Running' && state.ready && !isGated(pod);
  return pod.status?.phase === 'Running' && ready !== ought;
}

function podAddresses({
  address,
  podAddresses: addresses = [address],
}: StatusContext): Pick<PodStatus, 'podIP' | 'podIPs'> {
  const [podIP] = addresses;
  return podIP === undefined ? {} : { podIP, podIPs: addresses.map((ip) => ({ ip })) };
}

export function podStatus(pod: Pod, state: PodState, context: StatusContext): PodStatus {
  const ended = state.kind === 'Ended' ? state.ended : state.kind === 'Rejected' ? state : undefined;
  const failed = ended !== undefined && phaseOf(state) === 'Failed';
  return {
    phase: phaseOf(state),
    ...(failed ? { reason: ended.reason, message: ended.message } : {}),
    ...(pod.spec === undefined ? {} : { qosClass: qosClass(pod.spec) }),
    startTime: pod.status?.startTime ?? context.startTime,
    hostIP: context.address,
    hostIPs: [{ ip: context.address }],
    ...(state.kind === 'Running' ? podAddresses(context) : {}),
    conditions: conditions(pod, state, context.now),
    containerStatuses:
      state.kind === 'Rejected'
        ? []
        : (pod.spec?.containers ?? []).map((each) => containerStatus(each, state)),
  };
}
