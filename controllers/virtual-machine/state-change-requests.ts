/** `status.stateChangeRequests`: what start, stop and restart leave for the controller. Worked off from the front. */
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStateChangeRequest,
} from '../../openapi/generated/types/kubevirt_v1.js';

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
