/** The one word that `kubectl get vm` shows. The first that applies wins. */
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStartFailure,
  VirtualMachineStateChangeRequest,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { conditionTypes, phases, reasons, type PrintableStatus, type RunStrategy } from '../constants.js';
import { isMigrating } from '../migrations.js';
import { findCondition, isConditionTrue } from '../runtime/conditions.js';
import type { DataVolumesState } from './data-volumes.js';
import { isFinal } from './start-failure.js';
import { startRequest } from './state-change-requests.js';

export interface PrintableInput {
  readonly vm: VirtualMachine;
  readonly vmi: VirtualMachineInstance | undefined;
  readonly runStrategy: RunStrategy;
  readonly requests: readonly VirtualMachineStateChangeRequest[];
  readonly startFailure: VirtualMachineStartFailure | undefined;
  /** The instance is being deleted, or is about to be. */
  readonly stopping: boolean;
  readonly dataVolumes: DataVolumesState;
  /** Some claim of the VM waits for its first consumer or for a volume. */
  readonly waitsForVolumes: boolean;
}

export function printableStatus(input: PrintableInput): PrintableStatus {
  const { vm, vmi } = input;
  if (vm.metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (vmi === undefined) return withoutInstance(input);
  // Who is stopping is so until the instance has gone; an instance that had ended before is only cleared away.
  if (isFinal(vmi) && !(input.stopping && vm.status?.printableStatus !== finished(input)))
    return finished(input);
  if (input.stopping) return 'Stopping';
  if (isMigrating(vmi)) return 'Migrating';
  if (isConditionTrue(vmi.status?.conditions, conditionTypes.paused)) return 'Paused';
  switch (vmi.status?.phase) {
    case phases.running:
      return 'Running';
    case phases.unknown:
      return 'Unknown';
    default:
      return startProblem(vmi) ?? (input.waitsForVolumes ? 'WaitingForVolumeBinding' : 'Starting');
  }
}

function withoutInstance(input: PrintableInput): PrintableStatus {
  const { runStrategy, requests, startFailure, dataVolumes } = input;
  if (dataVolumes.kind === 'failed') return 'DataVolumeError';
  if (dataVolumes.kind === 'waiting') return 'Provisioning';
  if ((startFailure?.consecutiveFailCount ?? 0) > 0) return 'CrashLoopBackOff';
  if (runStrategy === 'WaitAsReceiver') return 'WaitingForReceiver';
  return runStrategy === 'Manual' && startRequest(requests) !== undefined ? 'Starting' : 'Stopped';
}

/** It ended; who is about to be started again waits out the delay of a crash loop. */
function finished({ startFailure }: PrintableInput): PrintableStatus {
  return (startFailure?.consecutiveFailCount ?? 0) > 0 ? 'CrashLoopBackOff' : 'Stopped';
}

/** Why it does not start, where that is known. */
function startProblem(vmi: VirtualMachineInstance): PrintableStatus | undefined {
  const conditions = vmi.status?.conditions;
  const scheduled = findCondition(conditions, conditionTypes.podScheduled);
  if (scheduled?.status === 'False' && scheduled.reason === reasons.unschedulable)
    return 'ErrorUnschedulable';
  if (isConditionTrue(conditions, conditionTypes.provisioning)) return 'Provisioning';
  const synchronized = findCondition(conditions, conditionTypes.synchronized);
  if (synchronized?.status !== 'False') return undefined;
  switch (synchronized.reason) {
    case reasons.claimNotFound:
      return 'ErrorPvcNotFound';
    case reasons.errImagePull:
      return 'ErrImagePull';
    case reasons.imagePullBackOff:
      return 'ImagePullBackOff';
    case 'FailedDataVolumeImport':
    case 'DataVolumeError':
      return 'DataVolumeError';
    default:
      return undefined;
  }
}
