/** Crash loops: an instance that fails before it ever ran is started again only after a growing delay. */
import type {
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineStartFailure,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { phases } from '../constants.js';
import { timestamp } from '../runtime/clock.js';

/** Seconds: 10, 40, 90, 160, 250, then 300. */
const firstDelay = 10;
const longestDelay = 300;

export function isFinal(vmi: VirtualMachineInstance): boolean {
  return vmi.status?.phase === phases.succeeded || vmi.status?.phase === phases.failed;
}

function hasRun(vmi: VirtualMachineInstance): boolean {
  return (
    vmi.status?.phase === phases.running ||
    (vmi.status?.phaseTransitionTimestamps ?? []).some(({ phase }) => phase === phases.running)
  );
}

/** The record of failed starts after looking at the present instance. `now` in milliseconds. */
export function nextStartFailure(
  vm: VirtualMachine,
  vmi: VirtualMachineInstance | undefined,
  startExpected: boolean,
  now: number,
  random: () => number,
): VirtualMachineStartFailure | undefined {
  const before = vm.status?.startFailure;
  if (!startExpected || (vmi !== undefined && hasRun(vmi))) return undefined;
  if (vmi === undefined || !isFinal(vmi) || before?.lastFailedVMIUID === vmi.metadata.uid) return before;
  const consecutiveFailCount = (before?.consecutiveFailCount ?? 0) + 1;
  return {
    consecutiveFailCount,
    lastFailedVMIUID: vmi.metadata.uid,
    retryAfterTimestamp: timestamp(now + retryDelay(consecutiveFailCount, random) * 1000),
  };
}

/** Seconds; jittered, so that many VMs that fail together do not come back together. */
function retryDelay(failures: number, random: () => number): number {
  const delay = firstDelay * failures ** 2;
  return Math.min(longestDelay, Math.floor(delay * (1 + random() / 2)));
}

/** Milliseconds until the next start is allowed; 0 if it is now. */
export function backoffLeft(failure: VirtualMachineStartFailure | undefined, now: number): number {
  if (failure?.retryAfterTimestamp === undefined) return 0;
  return Math.max(0, Date.parse(failure.retryAfterTimestamp) - now);
}
