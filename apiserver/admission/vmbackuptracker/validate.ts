/** Validation of a VirtualMachineBackupTracker: whether there may be any. Its schema says the rest. */
import type { VirtualMachineBackupTracker } from '../../../openapi/generated/types/kubevirt_backup_v1alpha1.js';
import { requireFeature } from '../configuration/require-feature.js';
import type { AdmissionPlugin } from '../interface.js';
import { kindAdmission } from '../kind-rules.js';

export function virtualMachineBackupTrackerValidation(): AdmissionPlugin {
  return kindAdmission<VirtualMachineBackupTracker>({
    name: 'VirtualMachineBackupTrackerValidation',
    group: 'backup.kubevirt.io',
    resource: 'virtualmachinebackuptrackers',
    create(_tracker, { configuration }) {
      requireFeature(configuration, 'IncrementalBackup', 'a VirtualMachineBackupTracker');
      return [];
    },
  });
}
