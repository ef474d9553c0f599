/** What the API server may do in a cluster, beside what `system:auth-delegator` lets it ask. */
import type { PolicyRule } from '../../openapi/generated/types/rbac_v1.js';

const read = ['get', 'list', 'watch'];

function rule(apiGroup: string, resources: readonly string[], verbs: readonly string[]): PolicyRule {
  return { apiGroups: [apiGroup], resources: [...resources], verbs: [...verbs] };
}

export const apiserverRules: readonly PolicyRule[] = [
  // What a cluster's admin has set up for every write.
  rule('', ['namespaces', 'resourcequotas'], read),
  rule('', ['resourcequotas/status'], ['update']),
  rule(
    'admissionregistration.k8s.io',
    [
      'mutatingwebhookconfigurations',
      'validatingwebhookconfigurations',
      'mutatingadmissionpolicies',
      'mutatingadmissionpolicybindings',
      'validatingadmissionpolicies',
      'validatingadmissionpolicybindings',
    ],
    read,
  ),
  // Launcher pods: the end of a forced stop, evictions, object graphs. Nodes tell where their agents are.
  rule('', ['pods'], ['get', 'list', 'delete']),
  rule('', ['nodes'], ['get']),
  // What machines refer to, which admission looks at.
  rule('', ['persistentvolumeclaims'], ['get', 'list']),
  rule('apps', ['controllerrevisions'], ['get', 'list']),
  rule('cdi.kubevirt.io', ['datasources', 'datavolumes'], ['get', 'list']),
  rule('k8s.cni.cncf.io', ['network-attachment-definitions'], ['get']),
  rule('scheduling.k8s.io', ['priorityclasses'], ['get', 'list']),
  rule('snapshot.storage.k8s.io', ['volumesnapshots'], ['get']),
  rule('storage.k8s.io', ['storageclasses'], ['get', 'list']),
];
