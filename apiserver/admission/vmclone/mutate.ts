/** Defaults of a VirtualMachineClone: a clone without a target becomes a VM with a name made from its source's. */
import type { VirtualMachineClone } from '../../../openapi/generated/types/kubevirt_clone_v1beta1.js';
import { generateName } from '../../registry/metadata.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission } from '../kind-rules.js';

export function virtualMachineCloneDefaults(random: (bytes: number) => Uint8Array): AdmissionPlugin {
  return kindAdmission<VirtualMachineClone>({
    name: 'VirtualMachineCloneDefaults',
    group: 'clone.kubevirt.io',
    resource: 'virtualmachineclones',
    prepare({ spec }) {
      const target = (spec.target ??= { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: '' });
      if (target.name === '') target.name = generateName(`clone-${spec.source.name}-`, random);
    },
  });
}
