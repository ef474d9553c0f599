import { presetValidation } from '../../apiserver/admission/vmipreset/validate.js';
import { testVectors } from './kind-vectors.js';

testVectors('vmipreset-validate', { plugin: presetValidation() });
