/** What a VM's run strategy asks for now. Pure: no clock, no client. */
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStateChangeRequest,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { phases, runStrategies, type RunStrategy } from '../constants.js';
import { isFinal } from './start-failure.js';
import { startRequest, wantsStop } from './state-change-requests.js';

export type Action =
  | { readonly kind: 'none' }
  | { readonly kind: 'start'; readonly paused: boolean }
  /** Delete the instance. `restart`: a new one is wanted after it, so leave a request to start. */
  | { readonly kind: 'stop'; readonly restart: boolean }
  /** A halted VM was asked to start. */
  | { readonly kind: 'setRunStrategy'; readonly runStrategy: RunStrategy };

const none: Action = { kind: 'none' };

/** `spec.running` is the deprecated way to say Always (true) or Halted (false). */
export function runStrategyOf(vm: VirtualMachine): RunStrategy {
  const { runStrategy, running } = vm.spec;
  if (runStrategy === undefined || runStrategy === '') return running === true ? 'Always' : 'Halted';
  return runStrategies.find((known) => known === runStrategy) ?? 'Halted';
}

export interface Situation {
  readonly runStrategy: RunStrategy;
  /** The strategy that the status shows: tells whether it has just been changed. */
  readonly observedRunStrategy: string | undefined;
  readonly requests: readonly VirtualMachineStateChangeRequest[];
  readonly vmi: VirtualMachineInstance | undefined;
}

export function decide(situation: Situation): Action {
  const { vmi } = situation;
  if (vmi?.metadata.deletionTimestamp !== undefined) return none;
  return vmi === undefined ? withoutInstance(situation) : withInstance(situation, vmi);
}

function withoutInstance({ runStrategy, observedRunStrategy, requests }: Situation): Action {
  const requested = startRequest(requests);
  const start: Action = { kind: 'start', paused: requested?.data?.paused === 'true' };
  switch (runStrategy) {
    case 'Always':
    case 'Once':
      return start;
    case 'RerunOnFailure':
      // Coming from another strategy it starts by itself, later only after failures and on request.
      return requested !== undefined || observedRunStrategy !== runStrategy ? start : none;
    case 'Manual':
      return requested === undefined ? none : start;
    case 'Halted':
      return requested === undefined ? none : { kind: 'setRunStrategy', runStrategy: 'Always' };
    case 'WaitAsReceiver':
      return none;
  }
}

function withInstance({ runStrategy, requests }: Situation, vmi: VirtualMachineInstance): Action {
  const stopRequested = wantsStop(requests, vmi);
  const stop: Action = { kind: 'stop', restart: false };
  switch (runStrategy) {
    case 'Always':
      return stopRequested || isFinal(vmi) ? stop : none;
    case 'RerunOnFailure':
      if (vmi.status?.phase === phases.failed) return { kind: 'stop', restart: true };
      return stopRequested ? stop : none;
    case 'Manual':
    case 'Once':
    case 'WaitAsReceiver':
      return stopRequested ? stop : none;
    case 'Halted':
      return stop;
  }
}

/** Whether an instance ought to exist or come by itself: only then does failing to start count. */
export function isStartExpected(
  runStrategy: RunStrategy,
  requests: readonly VirtualMachineStateChangeRequest[],
): boolean {
  switch (runStrategy) {
    case 'Always':
    case 'RerunOnFailure':
    case 'Once':
      return true;
    case 'Manual':
      return startRequest(requests) !== undefined;
    case 'Halted':
    case 'WaitAsReceiver':
      return false;
  }
}
