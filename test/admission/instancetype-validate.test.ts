import { instancetypeValidation } from '../../apiserver/admission/instancetype/validate.js';
import { testVectors } from './kind-vectors.js';

testVectors('instancetype-validate', { plugin: instancetypeValidation('Namespaced') });
testVectors('cluster-instancetype-validate', { plugin: instancetypeValidation('Cluster') });
