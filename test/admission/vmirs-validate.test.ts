import { replicaSetValidation } from '../../apiserver/admission/vmirs/validate.js';
import { testVectors } from './kind-vectors.js';

testVectors('vmirs-validate', {
  plugin: replicaSetValidation(),
  corrections: [[/\.GPUs$/, '.domain.devices.gpus']],
});
