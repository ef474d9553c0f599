/** rbac.authorization.k8s.io. See ../messages.ts for the notation. */
export const rbacMessages = `
Role: 1 metadata ObjectMeta, 2 rules [PolicyRule]
PolicyRule: 1 verbs [string], 2 apiGroups [string], 3 resources [string], 4 resourceNames [string],
  5 nonResourceURLs [string]
ClusterRole: 1 metadata ObjectMeta, 2 rules [PolicyRule], 3 aggregationRule AggregationRule
AggregationRule: 1 clusterRoleSelectors [LabelSelector]
RoleBinding: 1 metadata ObjectMeta, 2 subjects [Subject], 3 roleRef RoleRef
Subject: 1 kind string?, 2 apiGroup string, 3 name string?, 4 namespace string
RoleRef: 1 apiGroup string?, 2 kind string?, 3 name string?
ClusterRoleBinding: 1 metadata ObjectMeta, 2 subjects [Subject], 3 roleRef RoleRef
`;
