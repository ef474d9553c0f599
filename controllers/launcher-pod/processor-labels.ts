/** Labels that a node must have so that its processor is what the guest is to see. Node agents set them. */
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { needsFrequency, schedulingLabel } from '../topology/tsc-frequency.js';

/** The guest gets what the node has. */
const hostModels = ['', 'host-model', 'host-passthrough'];

export function processorLabels(vmi: VirtualMachineInstance): Record<string, string> {
  const { spec, status } = vmi;
  const frequency = needsFrequency(vmi) ? status?.topologyHints?.tscFrequency : undefined;
  const { model = '', features = [] } = spec.domain.cpu ?? {};
  const required = features.filter(({ policy = 'require' }) => policy === 'require');
  return Object.fromEntries([
    ...(hostModels.includes(model) ? [] : [[`cpu-model.node.kubevirt.io/${model}`, 'true'] as const]),
    ...required.map(({ name }) => [`cpu-feature.node.kubevirt.io/${name}`, 'true'] as const),
    ...(frequency === undefined ? [] : [[schedulingLabel(frequency), 'true'] as const]),
  ]);
}
