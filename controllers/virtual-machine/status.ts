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
  withCondition,
  withoutCondition,
  type AnyCondition,
  type WantedCondition,
} from '../runtime/conditions.js';
import type { DataVolumesState } from './data-volumes.js';
import { printableStatus } from './printable-status.js';

export interface Failure {
  readonly reason: string;
  readonly message: string;
}

export interface StatusInput {
  readonly vm: VirtualMachine;
  readonly vmi: VirtualMachineInstance | undefined;
  readonly runStrategy: RunStrategy;
  readonly requests: readonly VirtualMachineStateChangeRequest[];
  readonly startFailure: VirtualMachineStartFailure | undefined;
  /** The instance is not as the VM would have it now. */
  readonly outdated: boolean;
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
  const { vm, vmi, requests, startFailure, outdated } = input;
  // Absent rather than undefined: what is not in the new status is removed.
  const kept = { ...vm.status };
  delete kept.created;
  delete kept.ready;
  delete kept.stateChangeRequests;
  delete kept.startFailure;
  const generation = vm.metadata.generation ?? 0;
  return {
    ...kept,
    ...(vmi === undefined ? {} : { created: true }),
    ...(readiness(input).status === 'True' ? { ready: true } : {}),
    runStrategy: input.runStrategy,
    printableStatus: printableStatus(input),
    conditions: nextConditions(input),
    desiredGeneration: generation,
    observedGeneration: outdated ? generationOf(vmi, generation) : generation,
    ...(requests.length === 0 ? {} : { stateChangeRequests: [...requests] }),
    ...(startFailure === undefined ? {} : { startFailure }),
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
  const { vm, vmi, stopping, failure, outdated, now } = input;
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
  return vmi !== undefined && outdated
    ? withCondition(conditions, restartRequired, now)
    : withoutCondition(conditions, conditionTypes.restartRequired);
}

const restartRequired = {
  type: conditionTypes.restartRequired,
  status: 'True',
  reason: 'TemplateChanged',
  message: 'the template has changed since this instance was started; restart the VM to apply it',
} as const;

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
