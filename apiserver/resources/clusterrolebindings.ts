import { defineCoreResource, versions } from './define.js';
import { roleBindingColumns, roleBindingStrategy } from './role-columns.js';

export const clusterRoleBindings = defineCoreResource({
  group: 'rbac.authorization.k8s.io',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
  versions: versions('io.k8s.api.rbac.v1.ClusterRoleBinding', 'v1'),
  columns: roleBindingColumns,
  strategy: roleBindingStrategy,
});
