import { virtualMachineBackupValidation } from '../../apiserver/admission/vmbackup/validate.js';
import { virtualMachineBackupTrackerValidation } from '../../apiserver/admission/vmbackuptracker/validate.js';
import { existing, testVectors, type Supply } from './kind-vectors.js';

const source = { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'test-vm' };
const backup = (name: string, type?: string) =>
  existing('VirtualMachineBackup', name, {
    spec: { source },
    ...(type === undefined ? {} : { status: { conditions: [{ type, status: 'True' }] } }),
  });

const supplies: Readonly<Record<number, Supply>> = {
  4: { existing: [backup('vm-backup')] },
  5: { existing: [backup('other')] },
  6: { existing: [backup('old', 'Complete'), backup('older', 'Failed')] },
};

testVectors('vmbackup-validate', {
  plugin: virtualMachineBackupValidation(),
  supply: (_row, index) => supplies[index] ?? {},
});

testVectors('vmbackup-tracker-validate', { plugin: virtualMachineBackupTrackerValidation() });
