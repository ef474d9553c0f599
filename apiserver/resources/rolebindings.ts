import { defineCoreResource, versions } from './define.js';
import { roleBindingColumns, roleBindingStrategy } from './role-columns.js';

export const roleBindings = defineCoreResource({
  group: 'rbac.authorization.k8s.io',
  kind: 'RoleBinding',
  plural: 'rolebindings',
  namespaced: true,
  versions: versions('io.k8s.api.rbac.v1.RoleBinding', 'v1'),
  columns: roleBindingColumns,
  strategy: roleBindingStrategy,
});
