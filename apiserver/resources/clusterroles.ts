import { defineCoreResource, versions } from './define.js';
import { roleColumns, roleStrategy } from './role-columns.js';

export const clusterRoles = defineCoreResource({
  group: 'rbac.authorization.k8s.io',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  namespaced: false,
  versions: versions('io.k8s.api.rbac.v1.ClusterRole', 'v1'),
  columns: roleColumns,
  strategy: roleStrategy,
});
