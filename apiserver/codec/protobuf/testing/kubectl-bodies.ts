/** Bodies as kubectl 1.36 sends them, and the objects that kubectl 1.30 sends for the same commands as JSON, without nulls. */
import { podBody } from './pod-body.js';

export interface KubectlBody {
  readonly command: string;
  readonly protobuf: string;
  readonly object: object;
}

export const kubectlBodies: readonly KubectlBody[] = [
  {
    command: 'create namespace',
    protobuf: 'azhzAAoPCgJ2MRIJTmFtZXNwYWNlEiEKGQoJY2FwLXYxLjM2EgAaACIAKgAyADgAQgASABoCCgAaACIA',
    object: { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'cap-v1.36' }, spec: {}, status: {} },
  },
  {
    command: 'create configmap',
    protobuf: 'azhzAAoPCgJ2MRIJQ29uZmlnTWFwEh0KEwoDY2FwEgAaACIAKgAyADgAQgASBgoBYRIBYhoAIgA=',
    object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'cap' }, data: { a: 'b' } },
  },
  {
    command: 'create secret generic',
    protobuf: 'azhzAAoMCgJ2MRIGU2VjcmV0Eh8KEwoDY2FwEgAaACIAKgAyADgAQgASBgoBYRIBYhoAGgAiAA==',
    object: { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'cap' }, data: { a: 'Yg==' } },
  },
  {
    command: 'create serviceaccount',
    protobuf: 'azhzAAoUCgJ2MRIOU2VydmljZUFjY291bnQSFQoTCgNjYXASABoAIgAqADIAOABCABoAIgA=',
    object: { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'cap' } },
  },
  {
    command: 'create clusterrole',
    protobuf:
      'azhzAAorChxyYmFjLmF1dGhvcml6YXRpb24uazhzLmlvL3YxEgtDbHVzdGVyUm9sZRIkChMKA2NhcBIAGgAiACoAMgA4AEIAEg0KA2dldBIAGgRwb2RzGgAiAA==',
    object: {
      kind: 'ClusterRole',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { name: 'cap' },
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
    },
  },
  {
    command: 'create clusterrolebinding',
    protobuf:
      'azhzAAoyChxyYmFjLmF1dGhvcml6YXRpb24uazhzLmlvL3YxEhJDbHVzdGVyUm9sZUJpbmRpbmcSbAoTCgNjYXASABoAIgAqADIAOABCABImCgRVc2VyEhlyYmFjLmF1dGhvcml6YXRpb24uazhzLmlvGgF1IgAaLQoZcmJhYy5hdXRob3JpemF0aW9uLms4cy5pbxILQ2x1c3RlclJvbGUaA2NhcBoAIgA=',
    object: {
      kind: 'ClusterRoleBinding',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { name: 'cap' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'u' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cap' },
    },
  },
  {
    command: 'create quota',
    protobuf:
      'azhzAAoTCgJ2MRINUmVzb3VyY2VRdW90YRI6ChMKA2NhcBIAGgAiACoAMgA4AEIAEiEKDgoDY3B1EgcKBTE1MDBtCg8KBm1lbW9yeRIFCgMxR2kaABoAIgA=',
    object: {
      kind: 'ResourceQuota',
      apiVersion: 'v1',
      metadata: { name: 'cap' },
      spec: { hard: { cpu: '1500m', memory: '1Gi' } },
      status: {},
    },
  },
  {
    command: 'create poddisruptionbudget',
    protobuf:
      'azhzAAogCglwb2xpY3kvdjESE1BvZERpc3J1cHRpb25CdWRnZXQSOAoTCgNjYXASABoAIgAqADIAOABCABIVCgkIARAAGgM1MCUSCAoGCgFhEgFiGgoIABgAIAAoADAAGgAiAA==',
    object: {
      kind: 'PodDisruptionBudget',
      apiVersion: 'policy/v1',
      metadata: { name: 'cap' },
      spec: { minAvailable: '50%', selector: { matchLabels: { a: 'b' } } },
      status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    },
  },
  {
    command: 'create priorityclass',
    protobuf:
      'azhzAAolChRzY2hlZHVsaW5nLms4cy5pby92MRINUHJpb3JpdHlDbGFzcxIxChMKA2NhcBIAGgAiACoAMgA4AEIAEAcYACIAKhRQcmVlbXB0TG93ZXJQcmlvcml0eRoAIgA=',
    object: {
      kind: 'PriorityClass',
      apiVersion: 'scheduling.k8s.io/v1',
      metadata: { name: 'cap' },
      value: 7,
      preemptionPolicy: 'PreemptLowerPriority',
    },
  },
  {
    command: 'create service clusterip',
    protobuf:
      'azhzAAoNCgJ2MRIHU2VydmljZRJqCh8KA2NhcBIAGgAiACoAMgA4AEIAWgoKA2FwcBIDY2FwEkMKHAoGODAtd2ViEgNUQ1AYUCIJCAEQABoDd2ViKAASCgoDYXBwEgNjYXAaACIJQ2x1c3RlcklQOgBCAFIAWgBgAGgAGgIKABoAIgA=',
    object: {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: { name: 'cap', labels: { app: 'cap' } },
      spec: {
        ports: [{ name: '80-web', protocol: 'TCP', port: 80, targetPort: 'web' }],
        selector: { app: 'cap' },
        type: 'ClusterIP',
      },
      status: { loadBalancer: {} },
    },
  },
  {
    command: 'create token',
    protobuf:
      'azhzAAooChhhdXRoZW50aWNhdGlvbi5rOHMuaW8vdjESDFRva2VuUmVxdWVzdBIaChAKABIAGgAiACoAMgA4AEIAEgAaBAoAEgAaACIA',
    object: {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: {},
      status: { token: '' },
    },
  },
  {
    command: 'auth can-i',
    protobuf:
      'azhzAAoyChdhdXRob3JpemF0aW9uLms4cy5pby92MRIXU2VsZlN1YmplY3RBY2Nlc3NSZXZpZXcSVQoQCgASABoAIgAqADIAOABCABI3CjUKB2RlZmF1bHQSBmNyZWF0ZRoLa3ViZXZpcnQuaW8iACoPdmlydHVhbG1hY2hpbmVzMgA6ABoICAASABoAIAAaACIA',
    object: {
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: {
        resourceAttributes: {
          namespace: 'default',
          verb: 'create',
          group: 'kubevirt.io',
          resource: 'virtualmachines',
        },
      },
      status: { allowed: false },
    },
  },
  {
    command: 'auth whoami',
    protobuf:
      'azhzAAotChhhdXRoZW50aWNhdGlvbi5rOHMuaW8vdjESEVNlbGZTdWJqZWN0UmV2aWV3EhoKEAoAEgAaACIAKgAyADgAQgASBgoECgASABoAIgA=',
    object: {
      kind: 'SelfSubjectReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      status: { userInfo: {} },
    },
  },
  {
    command: 'auth can-i --list',
    protobuf:
      'azhzAAoxChdhdXRob3JpemF0aW9uLms4cy5pby92MRIWU2VsZlN1YmplY3RSdWxlc1JldmlldxIjChAKABIAGgAiACoAMgA4AEIAEgkKB2RlZmF1bHQaBBgAIgAaACIA',
    object: {
      kind: 'SelfSubjectRulesReview',
      apiVersion: 'authorization.k8s.io/v1',
      metadata: {},
      spec: { namespace: 'default' },
      status: { incomplete: false },
    },
  },
  {
    command: 'create role',
    protobuf:
      'azhzAAokChxyYmFjLmF1dGhvcml6YXRpb24uazhzLmlvL3YxEgRSb2xlEiQKEwoDY2FwEgAaACIAKgAyADgAQgASDQoDZ2V0EgAaBHBvZHMaACIA',
    object: {
      kind: 'Role',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { name: 'cap' },
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }],
    },
  },
  {
    command: 'create rolebinding',
    protobuf:
      'azhzAAorChxyYmFjLmF1dGhvcml6YXRpb24uazhzLmlvL3YxEgtSb2xlQmluZGluZxJfChMKA2NhcBIAGgAiACoAMgA4AEIAEiAKDlNlcnZpY2VBY2NvdW50EgAaA2NhcCIHZGVmYXVsdBomChlyYmFjLmF1dGhvcml6YXRpb24uazhzLmlvEgRSb2xlGgNjYXAaACIA',
    object: {
      kind: 'RoleBinding',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { name: 'cap' },
      subjects: [{ kind: 'ServiceAccount', name: 'cap', namespace: 'default' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'cap' },
    },
  },
  {
    command: 'create secret docker-registry',
    protobuf:
      'azhzAAoMCgJ2MRIGU2VjcmV0EooBChQKBGNhcGQSABoAIgAqADIAOABCABJSChEuZG9ja2VyY29uZmlnanNvbhI9eyJhdXRocyI6eyJhIjp7InVzZXJuYW1lIjoiYiIsInBhc3N3b3JkIjoiYyIsImF1dGgiOiJZanBqIn19fRoea3ViZXJuZXRlcy5pby9kb2NrZXJjb25maWdqc29uGgAiAA==',
    object: {
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: { name: 'capd' },
      data: {
        '.dockerconfigjson':
          'eyJhdXRocyI6eyJhIjp7InVzZXJuYW1lIjoiYiIsInBhc3N3b3JkIjoiYyIsImF1dGgiOiJZanBqIn19fQ==',
      },
      type: 'kubernetes.io/dockerconfigjson',
    },
  },
  podBody,
];
