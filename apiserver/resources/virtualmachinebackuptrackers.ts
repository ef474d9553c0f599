import type { VirtualMachineBackupTracker } from '../../openapi/generated/types/kubevirt_backup_v1alpha1.js';
import { column, defineResource, versions } from './define.js';

export const virtualMachineBackupTrackers = defineResource({
  group: 'backup.kubevirt.io',
  kind: 'VirtualMachineBackupTracker',
  plural: 'virtualmachinebackuptrackers',
  shortNames: ['vmbackuptracker', 'vmbackuptrackers'],
  categories: ['all'],
  versions: versions('io.kubevirt.backup.v1alpha1.VirtualMachineBackupTracker', 'v1alpha1'),
  status: true,
  columns: [
    column(
      'SourceKind',
      { description: 'Kind of what is tracked.' },
      ({ spec }: VirtualMachineBackupTracker) => spec.source.kind,
    ),
    column(
      'SourceName',
      { description: 'Name of what is tracked.' },
      ({ spec }: VirtualMachineBackupTracker) => spec.source.name,
    ),
    column(
      'LatestCheckpoint',
      { description: 'From where the next backup can go on.' },
      ({ status }: VirtualMachineBackupTracker) => status?.latestCheckpoint?.name,
    ),
    column(
      'CheckpointTime',
      { type: 'date', description: 'Time since that checkpoint.' },
      ({ status }: VirtualMachineBackupTracker) => status?.latestCheckpoint?.creationTime,
    ),
  ],
});
