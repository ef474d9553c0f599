/** What start, stop and restart mean for each run strategy. Pure: from the objects to what is to be done. */
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStateChangeRequest,
} from '../../openapi/generated/types/kubevirt_v1.js';

export type Plan =
  /** The spec says from now on whether the VM runs. */
  | { readonly kind: 'run'; readonly running: boolean }
  /** The spec stays; the controller is asked for one change of state. */
  | { readonly kind: 'request'; readonly requests: readonly VirtualMachineStateChangeRequest[] }
  /** It can not be done now: 409, with the reason. */
  | { readonly kind: 'refuse'; readonly why: string };

export type RunStrategy = 'Always' | 'RerunOnFailure' | 'Manual' | 'Halted' | 'Once' | 'WaitAsReceiver';

const notRunning = 'VM is not running';

const refuse = (why: string): Plan => ({ kind: 'refuse', why });

/** `spec.running` is the old way to say it; a VM with neither does not run. */
export function runStrategyOf({ spec }: VirtualMachine): RunStrategy {
  if (spec.runStrategy !== undefined) return spec.runStrategy as RunStrategy;
  return spec.running === true ? 'Always' : 'Halted';
}

function isFinal(vmi: VirtualMachineInstance): boolean {
  return vmi.status?.phase === 'Succeeded' || vmi.status?.phase === 'Failed';
}

/** Past its very beginning and not yet at its end. */
function isAlive(vmi: VirtualMachineInstance): boolean {
  const phase = vmi.status?.phase ?? '';
  return !isFinal(vmi) && phase !== '' && phase !== 'Unknown';
}

function start(paused: boolean): VirtualMachineStateChangeRequest {
  return { action: 'Start', ...(paused ? { data: { paused: 'true' } } : {}) };
}

function stop(vmi: VirtualMachineInstance): VirtualMachineStateChangeRequest {
  return { action: 'Stop', uid: vmi.metadata.uid };
}

export function planStart(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  paused: boolean,
): Plan {
  const strategy = runStrategyOf(vm);
  if (vmi !== undefined && isAlive(vmi)) return refuse('VM is already running');
  if (hasCondition(vm, 'ManualRecoveryRequired')) {
    return refuse('VM needs manual recovery: the migration of its volumes failed');
  }
  switch (strategy) {
    case 'Halted':
      return paused && vm.spec.template.spec?.startStrategy !== 'Paused'
        ? request(vm, [start(true)])
        : { kind: 'run', running: true };
    case 'Manual':
      return request(vm, vmi !== undefined && isFinal(vmi) ? [stop(vmi), start(paused)] : [start(paused)]);
    case 'RerunOnFailure':
      if (vmi?.status?.phase === 'Failed') {
        return refuse(
          `${strategy} does not support starting a VM that has failed: it is run again by itself`,
        );
      }
      return request(vm, vmi?.status?.phase === 'Succeeded' ? [stop(vmi), start(paused)] : [start(paused)]);
    case 'Always':
    case 'Once':
    case 'WaitAsReceiver':
      return refuse(`${strategy} does not support manual start requests`);
  }
}

/** @param gracePeriod seconds that the request allows the guest, if it says so */
export function planStop(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  gracePeriod: number | undefined,
): Plan {
  const strategy = runStrategyOf(vm);
  switch (strategy) {
    case 'Halted': {
      if (vmi === undefined || isFinal(vmi)) return refuse(notRunning);
      // It is stopping already; the only thing left to ask for is less patience.
      const current = vmi.spec.terminationGracePeriodSeconds;
      if (gracePeriod === undefined || (current !== undefined && gracePeriod >= current)) {
        return refuse(`${strategy} only supports manual stop requests with a shorter grace period`);
      }
      return request(vm, [stop(vmi)]);
    }
    case 'Manual':
    case 'RerunOnFailure':
      return vmi === undefined || isFinal(vmi) ? refuse(notRunning) : request(vm, [stop(vmi)]);
    case 'Always':
    case 'Once':
      return { kind: 'run', running: false };
    case 'WaitAsReceiver':
      return refuse(`${strategy} does not support manual stop requests`);
  }
}

export function planRestart(vm: VirtualMachine, vmi: VirtualMachineInstance | undefined): Plan {
  const strategy = runStrategyOf(vm);
  switch (strategy) {
    case 'Halted':
    case 'Once':
    case 'WaitAsReceiver':
      return refuse(`${strategy} does not support manual restart requests`);
    case 'Always':
    case 'Manual':
    case 'RerunOnFailure':
      return vmi === undefined ? refuse(notRunning) : request(vm, [stop(vmi), start(false)]);
  }
}

/** A lone stop overrides what is under way; anything else has to wait for it. */
function request(vm: VirtualMachine, requests: readonly VirtualMachineStateChangeRequest[]): Plan {
  const pending = vm.status?.stateChangeRequests ?? [];
  const loneStop = requests.length === 1 && requests[0]?.action === 'Stop';
  if (pending.length > 0 && !loneStop) {
    return refuse('unable to complete request: a stop or start is already under way');
  }
  return { kind: 'request', requests };
}

function hasCondition(vm: VirtualMachine, type: string): boolean {
  return (
    vm.status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ===
    true
  );
}
