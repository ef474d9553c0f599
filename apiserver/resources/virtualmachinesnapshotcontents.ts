import type { VirtualMachineSnapshotContent } from '../../openapi/generated/types/kubevirt_snapshot_v1beta1.js';
import { column, defineResource, versions } from './define.js';

export const virtualMachineSnapshotContents = defineResource({
  group: 'snapshot.kubevirt.io',
  kind: 'VirtualMachineSnapshotContent',
  plural: 'virtualmachinesnapshotcontents',
  shortNames: ['vmsnapshotcontent', 'vmsnapshotcontents'],
  categories: ['all'],
  versions: versions('io.kubevirt.snapshot.v1beta1.VirtualMachineSnapshotContent', 'v1beta1', 'v1alpha1'),
  status: true,
  columns: [
    column(
      'ReadyToUse',
      { type: 'boolean', description: 'Whether every volume is captured.' },
      ({ status }: VirtualMachineSnapshotContent) => status?.readyToUse,
    ),
    column(
      'CreationTime',
      { type: 'date', description: 'Time since the state was captured.' },
      ({ status }: VirtualMachineSnapshotContent) => status?.creationTime,
    ),
    column(
      'Error',
      { description: 'Why it is not ready.' },
      ({ status }: VirtualMachineSnapshotContent) => status?.error?.message,
    ),
  ],
});
