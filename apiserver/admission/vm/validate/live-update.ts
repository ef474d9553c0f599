/** What memory may grow to while the guest runs, where the cluster rolls changes out live. */
import type {
  KubeVirtConfiguration,
  VirtualMachineInstanceSpec,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import type { StatusCause } from '../../../../openapi/meta.js';
import { invalid, type FieldPath } from '../../causes.js';
import { memoryHotplugObstacle } from '../../vmi/defaults/memory.js';

/** `at` is the place of the template's spec. That sockets stay within maxSockets, the rules of every spec say. */
export function liveUpdateCauses(
  spec: VirtualMachineInstanceSpec,
  at: FieldPath,
  { vmRolloutStrategy }: KubeVirtConfiguration,
): StatusCause[] {
  const maximum = spec.domain.memory?.maxGuest;
  if (vmRolloutStrategy !== 'LiveUpdate' || maximum === undefined) return [];
  const obstacle = memoryHotplugObstacle(spec, maximum);
  return obstacle === undefined ? [] : [invalid(at.child('domain', 'memory', 'guest'), obstacle)];
}
