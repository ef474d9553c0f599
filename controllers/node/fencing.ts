/**
 * What proves that nothing runs on a node any more. A VM is started elsewhere only then: a second copy of it would ruin
 * its disks. Silence is no proof, however long it lasts.
 */
import type { Node } from '../../openapi/generated/types/core_v1.js';
import type { KubeVirt, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import { annotations } from '../constants.js';
import { isConditionTrue } from '../runtime/conditions.js';

/** Set by who has switched the machine off, or has made sure that it is. */
const outOfService = 'node.kubernetes.io/out-of-service';

/** In words; undefined if there is none. A node that still calls itself ready is not taken for fenced, whatever its taints. */
export function fencingProof(node: Node | undefined): string | undefined {
  if (node === undefined) return 'its Node has been deleted';
  if (isConditionTrue(node.status?.conditions, 'Ready')) return undefined;
  const tainted = node.spec?.taints?.some(({ key }) => key === outOfService) === true;
  return tainted ? `its node has been tainted ${outOfService}` : undefined;
}

/** The owner of the VMI, or of the cluster, trusts such a proof enough not to wait for the pod to be removed. */
export function wantsFastFailover(vmi: VirtualMachineInstance, kubevirts: readonly KubeVirt[]): boolean {
  const own = setting(vmi);
  return own === undefined ? kubevirts.some((each) => setting(each) === 'true') : own === 'true';
}

const setting = ({ metadata }: KubernetesObject): string | undefined =>
  metadata.annotations?.[annotations.fastFailover];
