import type { VirtualMachineClone } from '../../openapi/generated/types/kubevirt_clone_v1beta1.js';
import { column, defineResource, versions } from './define.js';

export const virtualMachineClones = defineResource({
  group: 'clone.kubevirt.io',
  kind: 'VirtualMachineClone',
  plural: 'virtualmachineclones',
  shortNames: ['vmclone', 'vmclones'],
  categories: ['all'],
  versions: versions('io.kubevirt.clone.v1beta1.VirtualMachineClone', 'v1beta1', 'v1alpha1'),
  status: true,
  columns: [
    column(
      'Phase',
      { description: 'How far the clone is.' },
      ({ status }: VirtualMachineClone) => status?.phase,
    ),
    column(
      'SourceVirtualMachine',
      { description: 'The machine that is copied.' },
      ({ spec }: VirtualMachineClone) => spec.source.name,
    ),
    column(
      'TargetVirtualMachine',
      { description: 'The machine that is made.' },
      ({ spec }: VirtualMachineClone) => spec.target?.name,
    ),
  ],
});
