import type { VirtualMachineRestore } from '../../openapi/generated/types/kubevirt_snapshot_v1beta1.js';
import { column, defineResource, versions } from './define.js';

export const virtualMachineRestores = defineResource({
  group: 'snapshot.kubevirt.io',
  kind: 'VirtualMachineRestore',
  plural: 'virtualmachinerestores',
  shortNames: ['vmrestore', 'vmrestores'],
  categories: ['all'],
  versions: versions('io.kubevirt.snapshot.v1beta1.VirtualMachineRestore', 'v1beta1', 'v1alpha1'),
  status: true,
  columns: [
    column(
      'TargetKind',
      { description: 'Kind of what is restored.' },
      ({ spec }: VirtualMachineRestore) => spec.target.kind,
    ),
    column(
      'TargetName',
      { description: 'Name of what is restored.' },
      ({ spec }: VirtualMachineRestore) => spec.target.name,
    ),
    column(
      'Complete',
      { type: 'boolean', description: 'Whether the restore is done.' },
      ({ status }: VirtualMachineRestore) => status?.complete,
    ),
    column(
      'RestoreTime',
      { type: 'date', description: 'Time since it was done.' },
      ({ status }: VirtualMachineRestore) => status?.restoreTime,
    ),
  ],
});
