/** What one reconciliation of a VM has found out before it acts. */
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStartFailure,
  VirtualMachineStateChangeRequest,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { conditionTypes, type RunStrategy } from '../constants.js';
import { isConditionTrue } from '../runtime/conditions.js';
import type { DataVolumesState } from './data-volumes.js';
import type { Settled } from './instancetype/references.js';
import { isStartExpected, runStrategyOf } from './run-strategy.js';
import { nextStartFailure } from './start-failure.js';
import { pendingRequests, requestsOf, wantsStop } from './state-change-requests.js';
import type { Failure } from './status.js';
import { differsFromTemplate } from './template.js';

export interface Observation {
  readonly stored: VirtualMachine;
  /** As it counts: with its instancetype and preference applied, as far as they could be. */
  readonly vm: VirtualMachine;
  readonly vmi: VirtualMachineInstance | undefined;
  readonly runStrategy: RunStrategy;
  readonly requests: readonly VirtualMachineStateChangeRequest[];
  readonly startFailure: VirtualMachineStartFailure | undefined;
  /** The instance is not as the VM would have it now. */
  readonly outdated: boolean;
  /** The instance is being deleted, or is about to be. */
  readonly stopping: boolean;
  readonly dataVolumes: DataVolumesState;
  /** Why no instance can be made. */
  readonly unsettled: Failure | undefined;
  /** Copies of instancetypes that are of no use once the status is written. */
  readonly superseded: readonly string[];
}

/**
 * @param settled what its instancetype and preference make of the VM; undefined if nobody has looked
 * @param now milliseconds
 */
export function observe(
  stored: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  settled: Exclude<Settled, { kind: 'rewritten' }> | undefined,
  now: number,
  random: () => number,
  dataVolumes: DataVolumesState,
): Observation {
  const runStrategy = runStrategyOf(stored);
  const requests = pendingRequests(requestsOf(stored), vmi);
  const expected = isStartExpected(runStrategy, requests);
  const startFailure = nextStartFailure(stored, vmi, expected, now, random);
  const stopping =
    vmi !== undefined && (vmi.metadata.deletionTimestamp !== undefined || wantsStop(requests, vmi));
  const base = { stored, vmi, runStrategy, requests, startFailure, stopping, dataVolumes };
  if (settled?.kind === 'settled') {
    const { vm, superseded } = settled;
    const outdated = vmi !== undefined && differsFromTemplate(vm, vmi);
    return { ...base, vm, outdated, unsettled: undefined, superseded };
  }
  // What an instance would be like now is not known: this stays as it was.
  const outdated = isConditionTrue(stored.status?.conditions, conditionTypes.restartRequired);
  return { ...base, vm: stored, outdated, unsettled: settled?.failure, superseded: [] };
}
