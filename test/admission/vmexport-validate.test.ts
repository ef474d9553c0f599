import { virtualMachineExportValidation } from '../../apiserver/admission/vmexport/validate.js';
import { testVectors } from './kind-vectors.js';

testVectors('vmexport-validate', {
  plugin: virtualMachineExportValidation(),
  supply: (_row, index) =>
    // Of the templates, one was recorded without the gate.
    index === 5 ? {} : { configuration: { developerConfiguration: { featureGates: ['OCIExport'] } } },
  corrections: [[/\.APIGroup$/, '.apiGroup']],
});
