import { defineCoreResource, versions } from './define.js';
import { roleColumns, roleStrategy } from './role-columns.js';

export const roles = defineCoreResource({
  group: 'rbac.authorization.k8s.io',
  kind: 'Role',
  plural: 'roles',
  namespaced: true,
  versions: versions('io.k8s.api.rbac.v1.Role', 'v1'),
  columns: roleColumns,
  strategy: roleStrategy,
});
