import { migrationDefaults } from '../../apiserver/admission/vmim/mutate.js';
import { testMutations } from './kind-vectors.js';

testMutations('migration-create-mutate', { plugin: migrationDefaults() });
