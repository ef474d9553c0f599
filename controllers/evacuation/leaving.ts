/** Which VMIs have to leave a node. Pure. */
import type { Node } from '../../openapi/generated/types/core_v1.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { phases } from '../constants.js';
import { evictionStrategyOf } from '../eviction-strategy.js';

const defaultDrainTaintKey = 'kubevirt.io/drain';

/** The node carries the taint by which an administrator empties it of guests. */
export function isDraining(node: Node | undefined, { migrations }: KubeVirtConfiguration): boolean {
  const drainKey = migrations?.nodeDrainTaintKey ?? defaultDrainTaintKey;
  return node?.spec?.taints?.some(({ key }) => key === drainKey) === true;
}

/** An eviction of its pod was answered by moving it away. */
export function isMarked({ status }: VirtualMachineInstance): boolean {
  return (status?.evacuationNodeName ?? '') !== '';
}

/** It is no longer on the node that it had to leave. */
export function hasLeft({ status }: VirtualMachineInstance): boolean {
  const { evacuationNodeName = '', nodeName = '' } = status ?? {};
  return evacuationNodeName !== '' && evacuationNodeName !== nodeName;
}

/** Under `External` somebody else moves it, who follows the mark. */
export function mustLeave(
  vmi: VirtualMachineInstance,
  draining: boolean,
  configuration: KubeVirtConfiguration,
): boolean {
  const { metadata, status } = vmi;
  if (metadata.deletionTimestamp !== undefined || status?.phase !== phases.running) return false;
  switch (evictionStrategyOf(vmi, configuration)) {
    case 'External':
      return false;
    case 'LiveMigrate':
    case 'LiveMigrateIfPossible':
      return draining || (isMarked(vmi) && !hasLeft(vmi));
    default:
      return isMarked(vmi) && !hasLeft(vmi);
  }
}
