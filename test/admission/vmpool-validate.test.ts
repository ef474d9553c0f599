import { virtualMachinePoolValidation } from '../../apiserver/admission/vmpool/validate.js';
import { testVectors } from './kind-vectors.js';

testVectors('vmpool-validate', { plugin: virtualMachinePoolValidation(() => false) });
