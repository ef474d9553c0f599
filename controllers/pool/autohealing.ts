/** Which VMs of a pool have failed to start for so long that new ones should take their place. Pure. */
import { parseDurationMs } from '../../openapi/duration.js';
import type { VirtualMachinePoolAutohealingStrategy } from '../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { conditionTypes, type PrintableStatus } from '../constants.js';
import { findCondition } from '../runtime/conditions.js';

const defaultThreshold = 3;
const defaultMinimum = 300_000;

const failing: ReadonlySet<string> = new Set<PrintableStatus>([
  'CrashLoopBackOff',
  'ErrorUnschedulable',
  'DataVolumeError',
  'ErrorPvcNotFound',
  'ErrImagePull',
  'ImagePullBackOff',
]);

/** In how many milliseconds the VM is to be replaced if nothing gets better: 0 is now, undefined never. */
export function replacementDue(
  { status }: VirtualMachine,
  strategy: VirtualMachinePoolAutohealingStrategy,
  now: number,
): number | undefined {
  const { startUpFailureThreshold = defaultThreshold, minFailingToStartDuration } = strategy;
  if ((status?.startFailure?.consecutiveFailCount ?? 0) >= startUpFailureThreshold) return 0;
  if (!failing.has(status?.printableStatus ?? '')) return undefined;
  const ready = findCondition(status?.conditions, conditionTypes.ready);
  if (ready?.status !== 'False' || ready.lastTransitionTime === undefined) return undefined;
  const minimum = parseDurationMs(minFailingToStartDuration ?? '') ?? defaultMinimum;
  return Math.max(0, Date.parse(ready.lastTransitionTime) + minimum - now);
}
