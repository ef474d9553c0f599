import { migrationPolicyValidation } from '../../apiserver/admission/migrationpolicy/validate.js';
import { testVectors } from './kind-vectors.js';

testVectors('migration-policy-validate', { plugin: migrationPolicyValidation() });
