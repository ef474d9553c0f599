/** What one reconciliation of a VM has found out before it acts. */
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStartFailure,
  VirtualMachineStateChangeRequest,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { RunStrategy } from '../constants.js';
import { dataVolumesReady, type DataVolumesState } from './data-volumes.js';
import type { Settled } from './instancetype/references.js';
import { isStartExpected, runStrategyOf } from './run-strategy.js';
import { nextStartFailure } from './start-failure.js';
import { pendingRequests, requestsOf, wantsStop } from './state-change-requests.js';
import type { Drift, Failure } from './status.js';
import type { Carried } from './volume-requests.js';

export interface Observation {
  readonly stored: VirtualMachine;
  /** As it counts: with its instancetype and preference applied, as far as they could be. */
  readonly vm: VirtualMachine;
  readonly vmi: VirtualMachineInstance | undefined;
  readonly runStrategy: RunStrategy;
  readonly requests: readonly VirtualMachineStateChangeRequest[];
  readonly startFailure: VirtualMachineStartFailure | undefined;
  readonly drift: Drift;
  /** The instance is being deleted, or is about to be. */
  readonly stopping: boolean;
  readonly dataVolumes: DataVolumesState;
  /** Why no instance can be made. */
  readonly unsettled: Failure | undefined;
  readonly volumes: Findings['volumes'];
  /** Copies of instancetypes that are of no use once the status is written. */
  readonly superseded: readonly string[];
}

/** What was found out by asking others. */
export interface Findings {
  readonly settled: Exclude<Settled, { kind: 'rewritten' }>;
  readonly drift: Drift;
  readonly dataVolumes: DataVolumesState;
  readonly volumes: Exclude<Carried, { kind: 'rewritten' }>;
}

/** Where nobody has asked: it counts as it is stored. */
export const unasked = (vm: VirtualMachine): Findings => ({
  settled: { kind: 'settled', vm, superseded: [] },
  drift: { kind: 'unknown' },
  dataVolumes: dataVolumesReady,
  volumes: { kind: 'none' },
});

/** @param now milliseconds */
export function observe(
  stored: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  { settled, drift, dataVolumes, volumes }: Findings,
  now: number,
  random: () => number,
): Observation {
  const runStrategy = runStrategyOf(stored);
  const requests = pendingRequests(requestsOf(stored), vmi);
  const expected = isStartExpected(runStrategy, requests);
  const startFailure = nextStartFailure(stored, vmi, expected, now, random);
  const stopping =
    vmi !== undefined && (vmi.metadata.deletionTimestamp !== undefined || wantsStop(requests, vmi));
  const base = { stored, vmi, runStrategy, requests, startFailure, stopping, drift, dataVolumes, volumes };
  return settled.kind === 'settled'
    ? { ...base, vm: settled.vm, unsettled: undefined, superseded: settled.superseded }
    : { ...base, vm: stored, unsettled: settled.failure, superseded: [] };
}
