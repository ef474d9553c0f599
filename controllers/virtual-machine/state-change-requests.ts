/** `status.stateChangeRequests`: what start, stop and restart leave for the controller. Worked off from the front. */
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStateChangeRequest,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { Action, Situation } from './run-strategy.js';

type Requests = readonly VirtualMachineStateChangeRequest[];

export function requestsOf(vm: VirtualMachine): Requests {
  return vm.status?.stateChangeRequests ?? [];
}

/** What is still to be done, given the instance that is there now. */
export function pendingRequests(requests: Requests, vmi: VirtualMachineInstance | undefined): Requests {
  const firstOpen = requests.findIndex((request) => !isFulfilled(request, vmi));
  return firstOpen === -1 ? [] : requests.slice(firstOpen);
}

function isFulfilled(
  { action, uid }: VirtualMachineStateChangeRequest,
  vmi: VirtualMachineInstance | undefined,
): boolean {
  switch (action) {
    case 'Start':
      return vmi !== undefined;
    case 'Stop':
      return vmi === undefined || (uid !== undefined && uid !== vmi.metadata.uid);
    default:
      // Nobody knows what it asks for; left in place it would block the others for ever.
      return true;
  }
}

/** The next thing to do is to stop this very instance. */
export function wantsStop(requests: Requests, vmi: VirtualMachineInstance): boolean {
  const [next] = requests;
  return next?.action === 'Stop' && (next.uid === undefined || next.uid === vmi.metadata.uid);
}

/** The request to start that comes next, or that comes once a stop is done. */
export function startRequest(requests: Requests): VirtualMachineStateChangeRequest | undefined {
  return requests.find(({ action }) => action === 'Start');
}

/** What is to come must be on record before what it follows from is gone. */
export function requestsAfter(
  action: Action,
  { vmi, runStrategy, requests }: Situation,
  started: VirtualMachineInstance | undefined,
): Requests {
  if (startRequest(requests) !== undefined) return requests;
  if (action.kind === 'stop' && action.restart) return [...requests, ...restartRequests(vmi)];
  // This strategy starts a VM when it has just been chosen: once the status names it, only the request tells.
  const owed = action.kind === 'start' && runStrategy === 'RerunOnFailure' && started === undefined;
  return owed ? [...requests, { action: 'Start' }] : requests;
}

/** A start waits behind its stop. */
function restartRequests(vmi: VirtualMachineInstance | undefined): VirtualMachineStateChangeRequest[] {
  const stop = vmi === undefined ? [] : [{ action: 'Stop', uid: vmi.metadata.uid }];
  return [...stop, { action: 'Start' }];
}
