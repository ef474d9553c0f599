/** `status.topologyHints` of a VMI: what its launcher and the scheduler have to agree on. */
import type { Node, Pod } from '../../openapi/generated/types/core_v1.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { Informer } from '../runtime/informer.js';
import { guestFrequency, needsFrequency, scheduledFrequency } from './tsc-frequency.js';

/** A pod that was made before the status tells of it has the frequency in its node selector. */
export function withTopologyHints(
  vmi: VirtualMachineInstance,
  pod: Pod | undefined,
  nodes: Informer<Node>,
  configuration: KubeVirtConfiguration,
): VirtualMachineInstance {
  if (vmi.status?.topologyHints !== undefined || !needsFrequency(vmi)) return vmi;
  const tscFrequency =
    pod === undefined ? guestFrequency(nodes.list(), configuration) : scheduledFrequency(pod);
  return tscFrequency === undefined
    ? vmi
    : { ...vmi, status: { ...vmi.status, topologyHints: { tscFrequency } } };
}
