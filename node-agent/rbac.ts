/** What a node agent may do at the API server. */
import type { PolicyRule } from '../openapi/generated/types/rbac_v1.js';

/** Needed wherever an agent runs. */
export const nodeAgentRules: readonly PolicyRule[] = [
  {
    apiGroups: ['kubevirt.io'],
    resources: ['virtualmachineinstances'],
    verbs: ['get', 'list', 'watch'],
  },
  { apiGroups: ['kubevirt.io'], resources: ['virtualmachineinstances/status'], verbs: ['patch'] },
  { apiGroups: ['kubevirt.io'], resources: ['kubevirts'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
];

/** Needed besides where a kubelet runs the pods. */
export const kubeletAgentRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
];

/** Needed besides where the agent is kubelet as well: in standalone. */
export const podRuntimeRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['nodes'], verbs: ['create'] },
  { apiGroups: [''], resources: ['nodes/status', 'pods/status'], verbs: ['patch'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch', 'delete'] },
  { apiGroups: [''], resources: ['secrets', 'configmaps', 'persistentvolumes'], verbs: ['get'] },
  { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'patch'] },
];
