import { defineResource, versions } from './define.js';

export const migrationPolicies = defineResource({
  group: 'migrations.kubevirt.io',
  kind: 'MigrationPolicy',
  plural: 'migrationpolicies',
  namespaced: false,
  versions: versions('io.kubevirt.migrations.v1alpha1.MigrationPolicy', 'v1alpha1'),
  status: true,
});
