/** The whole status of a VM, from what is observed. Fields that others own are carried over. */
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStartFailure,
  VirtualMachineStateChangeRequest,
  VirtualMachineStatus,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { annotations, conditionTypes, guestNotRunning, reasons, type RunStrategy } from '../constants.js';
import {
  findCondition,
  isConditionTrue,
  withCondition,
  withoutCondition,
  type AnyCondition,
  type WantedCondition,
} from '../runtime/conditions.js';
import type { DataVolumesState } from './data-volumes.js';
import { printableStatus } from './printable-status.js';
import { openVolumeRequests } from './volume-requests.js';

export interface Failure {
  readonly reason: string;
  readonly message: string;
}

/** How the instance differs from what one would be that is started now. */
export type Drift =
  | { readonly kind: 'none' }
  /** Fields that wait for a restart. */
  | { readonly kind: 'restart'; readonly fields: readonly string[] }
  /** What one would be is not known: it stays as it was. */
  | { readonly kind: 'unknown' };

export interface StatusInput {
  readonly vm: VirtualMachine;
  readonly vmi: VirtualMachineInstance | undefined;
  readonly runStrategy: RunStrategy;
  readonly requests: readonly VirtualMachineStateChangeRequest[];
  readonly startFailure: VirtualMachineStartFailure | undefined;
  readonly drift: Drift;
  /** The instance is being deleted, or is about to be. */
  readonly stopping: boolean;
  /** Why the last attempt to start or stop it failed. */
  readonly failure: Failure | undefined;
  readonly waitsForVolumes: boolean;
  readonly dataVolumes: DataVolumesState;
  /** Milliseconds. */
  readonly now: number;
}

export function nextStatus(input: StatusInput): VirtualMachineStatus {
  const { vm, vmi, requests, startFailure } = input;
  // Absent rather than undefined: what is not in the new status is removed.
  const kept = { ...vm.status };
  delete kept.created;
  delete kept.ready;
  delete kept.stateChangeRequests;
  delete kept.startFailure;
  delete kept.volumeRequests;
  const generation = vm.metadata.generation ?? 0;
  const conditions = nextConditions(input);
  const outdated = isConditionTrue(conditions, conditionTypes.restartRequired);
  const volumeRequests = openVolumeRequests(vm);
  return {
    ...kept,
    ...(vmi === undefined ? {} : { created: true }),
    ...(readiness(input).status === 'True' ? { ready: true } : {}),
    runStrategy: input.runStrategy,
    printableStatus: printableStatus(input),
    conditions,
    desiredGeneration: generation,
    observedGeneration: outdated ? generationOf(vmi, generation) : generation,
    ...(requests.length === 0 ? {} : { stateChangeRequests: [...requests] }),
    ...(startFailure === undefined ? {} : { startFailure }),
    ...(volumeRequests.length === 0 ? {} : { volumeRequests }),
  };
}

/** The generation that the running instance was made from: older than the desired one while a restart is due. */
function generationOf(vmi: VirtualMachineInstance | undefined, desired: number): number {
  const annotation = Number(vmi?.metadata.annotations?.[annotations.virtualMachineGeneration]);
  return Number.isInteger(annotation) ? annotation : desired;
}

/** Conditions that are the VM's own, whatever its instance says under the same type. */
const own: ReadonlySet<string> = new Set([
  conditionTypes.ready,
  conditionTypes.failure,
  conditionTypes.restartRequired,
]);

function nextConditions(input: StatusInput): AnyCondition[] {
  const { vm, vmi, stopping, failure, drift, now } = input;
  const before: readonly AnyCondition[] = vm.status?.conditions ?? [];
  // What an instance on its way out still says of itself is not worth a write each.
  const told = stopping ? before : (vmi?.status?.conditions ?? []);
  const copied = told.filter(({ type }) => !own.has(type));
  const wanted = new Set(copied.map(({ type }) => type));
  let conditions = before.filter(({ type }) => own.has(type) || wanted.has(type));
  conditions = withCondition(conditions, readiness(input), now);
  for (const { type, status, reason, message } of copied)
    conditions = withCondition(conditions, { type, status: status as 'True', reason, message }, now);
  conditions =
    failure === undefined
      ? withoutCondition(conditions, conditionTypes.failure)
      : withCondition(conditions, { type: conditionTypes.failure, status: 'True', ...failure }, now);
  if (vmi === undefined || drift.kind === 'none')
    return withoutCondition(conditions, conditionTypes.restartRequired);
  return drift.kind === 'unknown'
    ? conditions
    : withCondition(conditions, restartRequired(drift.fields), now);
}

/** How many fields are named. */
const mostNamed = 5;

function restartRequired(fields: readonly string[]): WantedCondition {
  const left = fields.length - mostNamed;
  const named = [...fields.slice(0, mostNamed), ...(left > 0 ? [`${left} more`] : [])].join(', ');
  return {
    type: conditionTypes.restartRequired,
    status: 'True',
    reason: 'TemplateChanged',
    message: `changed since this instance was started: ${named}; restart the VM to apply it`,
  };
}

function readiness({ vmi, stopping }: StatusInput): WantedCondition {
  const type = conditionTypes.ready;
  if (vmi === undefined)
    return {
      type,
      status: 'False',
      reason: reasons.instanceNotExists,
      message: 'the virtual machine instance does not exist',
    };
  if (stopping)
    return {
      type,
      status: 'False',
      reason: reasons.podTerminating,
      message: 'the instance is being stopped',
    };
  const ready = findCondition(vmi.status?.conditions, type);
  if (ready === undefined) return guestNotRunning;
  const { status, reason, message } = ready;
  return {
    type,
    status: status === 'True' ? 'True' : status === 'False' ? 'False' : 'Unknown',
    reason,
    message,
  };
}
