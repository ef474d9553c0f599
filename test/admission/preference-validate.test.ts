import { preferenceValidation } from '../../apiserver/admission/preference/validate.js';
import { testVectors } from './kind-vectors.js';

testVectors('preference-validate', { plugin: preferenceValidation('Namespaced') });
testVectors('cluster-preference-validate', { plugin: preferenceValidation('Cluster') });
