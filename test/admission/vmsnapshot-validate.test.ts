import { virtualMachineSnapshotValidation } from '../../apiserver/admission/vmsnapshot/validate.js';
import { testVectors } from './kind-vectors.js';

testVectors('vmsnapshot-validate', {
  plugin: virtualMachineSnapshotValidation(),
  supply: (_row, index) =>
    index === 0 ? { configuration: { developerConfiguration: { disabledFeatureGates: ['Snapshot'] } } } : {},
});
