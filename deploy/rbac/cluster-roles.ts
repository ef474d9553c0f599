/** The ClusterRoles that a cluster starts with: Kubernetes' own for users, and KubeVirt's that aggregate into them. */
import type { PolicyRule } from '../../openapi/generated/types/rbac_v1.js';

export interface ClusterRoleSource {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** This role is the sum of the roles with this label; it then has no rules of its own. */
  readonly aggregates?: string;
  readonly rules: readonly PolicyRule[];
}

const read = ['get', 'list', 'watch'];
const write = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const aggregateTo = (role: 'admin' | 'edit' | 'view'): Record<string, string> => ({
  [`rbac.authorization.k8s.io/aggregate-to-${role}`]: 'true',
});

const kubevirtKinds: Readonly<Record<string, readonly string[]>> = {
  'kubevirt.io': [
    'virtualmachines',
    'virtualmachineinstances',
    'virtualmachineinstancepresets',
    'virtualmachineinstancereplicasets',
    'virtualmachineinstancemigrations',
  ],
  'snapshot.kubevirt.io': [
    'virtualmachinesnapshots',
    'virtualmachinesnapshotcontents',
    'virtualmachinerestores',
  ],
  'export.kubevirt.io': ['virtualmachineexports'],
  'clone.kubevirt.io': ['virtualmachineclones'],
  'instancetype.kubevirt.io': ['virtualmachineinstancetypes', 'virtualmachinepreferences'],
  'pool.kubevirt.io': ['virtualmachinepools'],
  'backup.kubevirt.io': ['virtualmachinebackups', 'virtualmachinebackuptrackers'],
};
const clusterInstancetypes: PolicyRule = {
  apiGroups: ['instancetype.kubevirt.io'],
  resources: ['virtualmachineclusterinstancetypes', 'virtualmachineclusterpreferences'],
  verbs: read,
};

const subresourceGroups = ['kubevirt.io', 'subresources.kubevirt.io'];
const virtualMachineActions = [
  'start',
  'stop',
  'restart',
  'addvolume',
  'removevolume',
  'migrate',
  'memorydump',
];
const guestActions = ['pause', 'unpause', 'freeze', 'unfreeze', 'softreboot', 'reset'];
/** The second is what it is called; kube-apiserver asks for the first segment. */
const evacuationActions = ['evacuate', 'evacuate/cancel'];
const instanceReads = ['guestosinfo', 'filesystemlist', 'userlist', 'objectgraph'];
const instanceStreams = ['console', 'vnc', 'vnc/screenshot', 'portforward', 'vsock', 'usbredir'];

const of = (resource: string, subresources: readonly string[]): string[] =>
  subresources.map((name) => `${resource}/${name}`);
const onBoth = (subresources: readonly string[]): string[] => [
  ...of('virtualmachineinstances', subresources),
  ...of('virtualmachines', subresources),
];

function kindRules(verbs: readonly string[]): PolicyRule[] {
  return Object.entries(kubevirtKinds).map(([group, resources]) => ({
    apiGroups: [group],
    resources: [...resources],
    verbs: [...verbs],
  }));
}

const actionRules: PolicyRule[] = [
  { apiGroups: subresourceGroups, resources: onBoth(instanceStreams), verbs: ['get'] },
  {
    apiGroups: subresourceGroups,
    resources: [
      ...of('virtualmachines', virtualMachineActions),
      ...of('virtualmachineinstances', ['addvolume', 'removevolume']),
      ...onBoth(guestActions),
      ...onBoth(evacuationActions),
    ],
    verbs: ['update'],
  },
  { apiGroups: subresourceGroups, resources: ['expand-vm-spec'], verbs: ['update'] },
];

const readRules: PolicyRule[] = [
  {
    apiGroups: subresourceGroups,
    resources: [...onBoth(instanceReads), 'virtualmachines/expand-spec'],
    verbs: ['get'],
  },
  clusterInstancetypes,
];

const coreForUsers = [
  'configmaps',
  'events',
  'persistentvolumeclaims',
  'pods',
  'serviceaccounts',
  'services',
];

export const clusterRoles: readonly ClusterRoleSource[] = [
  {
    name: 'cluster-admin',
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ],
  },
  { name: 'admin', aggregates: 'rbac.authorization.k8s.io/aggregate-to-admin', rules: [] },
  {
    name: 'edit',
    aggregates: 'rbac.authorization.k8s.io/aggregate-to-edit',
    labels: aggregateTo('admin'),
    rules: [],
  },
  {
    name: 'view',
    aggregates: 'rbac.authorization.k8s.io/aggregate-to-view',
    labels: aggregateTo('edit'),
    rules: [],
  },
  {
    name: 'system:aggregate-to-view',
    labels: aggregateTo('view'),
    rules: [
      {
        apiGroups: [''],
        resources: [...coreForUsers, 'namespaces', 'pods/status', 'resourcequotas'],
        verbs: read,
      },
    ],
  },
  {
    name: 'system:aggregate-to-edit',
    labels: aggregateTo('edit'),
    rules: [{ apiGroups: [''], resources: [...coreForUsers, 'secrets'], verbs: [...read, ...write] }],
  },
  {
    name: 'system:aggregate-to-admin',
    labels: aggregateTo('admin'),
    rules: [
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['roles', 'rolebindings'],
        verbs: [...read, ...write],
      },
    ],
  },
  {
    name: 'kubevirt.io:view',
    labels: aggregateTo('view'),
    rules: [...kindRules(read), ...readRules],
  },
  {
    name: 'kubevirt.io:edit',
    labels: aggregateTo('edit'),
    rules: [...kindRules([...read, ...write]), ...readRules, ...actionRules],
  },
  {
    name: 'kubevirt.io:admin',
    labels: aggregateTo('admin'),
    rules: [...kindRules([...read, ...write]), ...readRules, ...actionRules],
  },
  {
    name: 'kubevirt.io:migrate',
    rules: [
      { apiGroups: subresourceGroups, resources: ['virtualmachines/migrate'], verbs: ['update'] },
      {
        apiGroups: ['kubevirt.io'],
        resources: ['virtualmachineinstancemigrations'],
        verbs: [...read, ...write],
      },
    ],
  },
  {
    name: 'kubevirt.io:default',
    rules: [
      { apiGroups: ['subresources.kubevirt.io'], resources: ['version', 'guestfs'], verbs: ['get', 'list'] },
      { apiGroups: ['kubevirt.io'], resources: ['kubevirts'], verbs: ['get', 'list'] },
      clusterInstancetypes,
    ],
  },
  {
    name: 'system:discovery',
    rules: [
      {
        nonResourceURLs: [
          '/api',
          '/api/*',
          '/apis',
          '/apis/*',
          '/openapi',
          '/openapi/*',
          '/version',
          '/version/',
          '/healthz',
          '/livez',
          '/readyz',
        ],
        verbs: ['get'],
      },
    ],
  },
  {
    name: 'system:basic-user',
    rules: [
      {
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
        verbs: ['create'],
      },
      { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] },
    ],
  },
];

export interface ClusterRoleBindingSource {
  readonly role: string;
  readonly subjects: readonly { readonly kind: 'User' | 'Group'; readonly name: string }[];
}

export const clusterRoleBindings: readonly ClusterRoleBindingSource[] = [
  { role: 'cluster-admin', subjects: [{ kind: 'Group', name: 'system:masters' }] },
  { role: 'system:discovery', subjects: [{ kind: 'Group', name: 'system:authenticated' }] },
  { role: 'system:basic-user', subjects: [{ kind: 'Group', name: 'system:authenticated' }] },
  { role: 'kubevirt.io:default', subjects: [{ kind: 'Group', name: 'system:authenticated' }] },
];
