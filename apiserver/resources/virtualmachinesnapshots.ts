import type { VirtualMachineSnapshot } from '../../openapi/generated/types/kubevirt_snapshot_v1beta1.js';
import { column, defineResource, versions } from './define.js';

export const virtualMachineSnapshots = defineResource({
  group: 'snapshot.kubevirt.io',
  kind: 'VirtualMachineSnapshot',
  plural: 'virtualmachinesnapshots',
  shortNames: ['vmsnapshot', 'vmsnapshots'],
  categories: ['all'],
  versions: versions('io.kubevirt.snapshot.v1beta1.VirtualMachineSnapshot', 'v1beta1', 'v1alpha1'),
  status: true,
  columns: [
    column(
      'SourceKind',
      { description: 'Kind of what is captured.' },
      ({ spec }: VirtualMachineSnapshot) => spec.source.kind,
    ),
    column(
      'SourceName',
      { description: 'Name of what is captured.' },
      ({ spec }: VirtualMachineSnapshot) => spec.source.name,
    ),
    column(
      'Phase',
      { description: 'How far the snapshot is.' },
      ({ status }: VirtualMachineSnapshot) => status?.phase,
    ),
    column(
      'ReadyToUse',
      { type: 'boolean', description: 'Whether a restore can start from it.' },
      ({ status }: VirtualMachineSnapshot) => status?.readyToUse,
    ),
    column(
      'CreationTime',
      { type: 'date', description: 'Time since the state was captured.' },
      ({ status }: VirtualMachineSnapshot) => status?.creationTime,
    ),
    column(
      'Error',
      { description: 'Why it is not ready.' },
      ({ status }: VirtualMachineSnapshot) => status?.error?.message,
    ),
  ],
});
