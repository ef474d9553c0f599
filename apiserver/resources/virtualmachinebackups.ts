import type { VirtualMachineBackup } from '../../openapi/generated/types/kubevirt_backup_v1alpha1.js';
import { column, defineResource, versions } from './define.js';

export const virtualMachineBackups = defineResource({
  group: 'backup.kubevirt.io',
  kind: 'VirtualMachineBackup',
  plural: 'virtualmachinebackups',
  shortNames: ['vmbackup', 'vmbackups'],
  categories: ['all'],
  versions: versions('io.kubevirt.backup.v1alpha1.VirtualMachineBackup', 'v1alpha1'),
  status: true,
  columns: [
    column(
      'SourceKind',
      { description: 'Kind of what is backed up.' },
      ({ spec }: VirtualMachineBackup) => spec.source.kind,
    ),
    column(
      'SourceName',
      { description: 'Name of what is backed up.' },
      ({ spec }: VirtualMachineBackup) => spec.source.name,
    ),
    column(
      'Type',
      { description: 'Whether all blocks were copied or those that changed.' },
      ({ status }: VirtualMachineBackup) => status?.type,
    ),
    column(
      'CheckpointName',
      { description: 'From where the next backup can go on.' },
      ({ status }: VirtualMachineBackup) => status?.checkpointName,
    ),
  ],
});
