/** Admission of every kind besides VirtualMachines, their instances, and instance types. */
import type { IsComponent } from './components.js';
import type { AdmissionPlugin } from './interface.js';
import { kubeVirtValidation } from './kubevirt/validate.js';
import { launcherPodDefaults } from './launcherpod/mutate.js';
import { migrationPolicyValidation } from './migrationpolicy/validate.js';
import { pluginValidation } from './plugin/validate.js';
import { virtualMachineBackupValidation } from './vmbackup/validate.js';
import { virtualMachineBackupTrackerValidation } from './vmbackuptracker/validate.js';
import { virtualMachineCloneDefaults } from './vmclone/mutate.js';
import { virtualMachineCloneValidation } from './vmclone/validate.js';
import { virtualMachineExportValidation } from './vmexport/validate.js';
import { migrationDefaults } from './vmim/mutate.js';
import { migrationValidation } from './vmim/validate.js';
import { presetValidation } from './vmipreset/validate.js';
import { replicaSetValidation } from './vmirs/validate.js';
import { virtualMachinePoolValidation } from './vmpool/validate.js';
import { virtualMachineRestoreValidation } from './vmrestore/validate.js';
import { virtualMachineSnapshotValidation } from './vmsnapshot/validate.js';

export interface KindDependencies {
  readonly isComponent: IsComponent;
  readonly randomBytes: (count: number) => Uint8Array;
}

export function kindAdmissions({ isComponent, randomBytes }: KindDependencies): readonly AdmissionPlugin[] {
  return [
    kubeVirtValidation(),
    launcherPodDefaults(),
    presetValidation(),
    replicaSetValidation(),
    virtualMachinePoolValidation(isComponent),
    migrationDefaults(),
    migrationValidation(isComponent),
    migrationPolicyValidation(),
    virtualMachineSnapshotValidation(),
    virtualMachineRestoreValidation(),
    virtualMachineExportValidation(),
    virtualMachineCloneDefaults(randomBytes),
    virtualMachineCloneValidation(),
    virtualMachineBackupValidation(),
    virtualMachineBackupTrackerValidation(),
    pluginValidation(),
  ];
}
