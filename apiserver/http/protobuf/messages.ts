/**
 * Numbers and types of the fields of the kinds that Go clients send as protobuf: what kubectl's typed commands create, and
 * reviews. Fields that the server owns (status, managedFields) are left out and so skipped.
 *
 * A field is `number name type`. Types: `string`, `bytes` (base64 in JSON), `int`, `bool`, `time`, `microTime`, `quantity`,
 * `intOrString`, or another message; `[]` behind it makes a list, `map<…>` a map with string keys. Zero numbers and false
 * are left out, as they are in JSON; `int!` and `bool!` keep them, because there absent means something else.
 */
const meta = '1 metadata ObjectMeta';
const subjects = `${meta}, 2 subjects Subject[], 3 roleRef RoleRef`;
const accessSpec = '1 resourceAttributes ResourceAttributes, 2 nonResourceAttributes NonResourceAttributes';

export const messages: Readonly<Record<string, string>> = {
  ObjectMeta:
    '1 name string, 2 generateName string, 3 namespace string, 5 uid string, 6 resourceVersion string, 7 generation int, ' +
    '8 creationTimestamp time, 9 deletionTimestamp time, 10 deletionGracePeriodSeconds int!, 11 labels map<string>, ' +
    '12 annotations map<string>, 13 ownerReferences OwnerReference[], 14 finalizers string[]',
  OwnerReference:
    '1 kind string, 3 name string, 4 uid string, 5 apiVersion string, 6 controller bool!, 7 blockOwnerDeletion bool!',
  LabelSelector: '1 matchLabels map<string>, 2 matchExpressions Requirement[]',
  Requirement: '1 key string, 2 operator string, 3 values string[]',
  ObjectReference:
    '1 kind string, 2 namespace string, 3 name string, 4 uid string, 5 apiVersion string, 6 resourceVersion string, ' +
    '7 fieldPath string',
  LocalObjectReference: '1 name string',
  DeleteOptions:
    '1 gracePeriodSeconds int!, 2 preconditions Preconditions, 3 orphanDependents bool!, 4 propagationPolicy string, ' +
    '5 dryRun string[]',
  Preconditions: '1 uid string, 2 resourceVersion string',

  Namespace: `${meta}, 2 spec NamespaceSpec`,
  NamespaceSpec: '1 finalizers string[]',
  ConfigMap: `${meta}, 2 data map<string>, 3 binaryData map<bytes>, 4 immutable bool!`,
  Secret: `${meta}, 2 data map<bytes>, 3 type string, 4 stringData map<string>, 5 immutable bool!`,
  ServiceAccount:
    `${meta}, 2 secrets ObjectReference[], 3 imagePullSecrets LocalObjectReference[], ` +
    '4 automountServiceAccountToken bool!',
  ResourceQuota: `${meta}, 2 spec ResourceQuotaSpec`,
  ResourceQuotaSpec: '1 hard map<quantity>, 2 scopes string[], 3 scopeSelector ScopeSelector',
  ScopeSelector: '1 matchExpressions ScopeRequirement[]',
  ScopeRequirement: '1 scopeName string, 2 operator string, 3 values string[]',
  Service: `${meta}, 2 spec ServiceSpec`,
  ServiceSpec:
    '1 ports ServicePort[], 2 selector map<string>, 3 clusterIP string, 4 type string, 5 externalIPs string[], ' +
    '7 sessionAffinity string, 8 loadBalancerIP string, 9 loadBalancerSourceRanges string[], 10 externalName string, ' +
    '11 externalTrafficPolicy string, 12 healthCheckNodePort int, 13 publishNotReadyAddresses bool, ' +
    '14 sessionAffinityConfig SessionAffinityConfig, 17 ipFamilyPolicy string, 18 clusterIPs string[], ' +
    '19 ipFamilies string[], 20 allocateLoadBalancerNodePorts bool!, 21 loadBalancerClass string, ' +
    '22 internalTrafficPolicy string, 23 trafficDistribution string',
  ServicePort:
    '1 name string, 2 protocol string, 3 port int, 4 targetPort intOrString, 5 nodePort int, 6 appProtocol string',
  SessionAffinityConfig: '1 clientIP ClientIPConfig',
  ClientIPConfig: '1 timeoutSeconds int!',
  CoreEvent:
    `${meta}, 2 involvedObject ObjectReference, 3 reason string, 4 message string, 5 source EventSource, ` +
    '6 firstTimestamp time, 7 lastTimestamp time, 8 count int, 9 type string, 10 eventTime microTime, ' +
    '11 series EventSeries, 12 action string, 13 related ObjectReference, 14 reportingComponent string, ' +
    '15 reportingInstance string',
  EventSource: '1 component string, 2 host string',
  EventSeries: '1 count int, 2 lastObservedTime microTime',
  Binding: `${meta}, 2 target ObjectReference`,

  Event:
    `${meta}, 2 eventTime microTime, 3 series EventSeries, 4 reportingController string, 5 reportingInstance string, ` +
    '6 action string, 7 reason string, 8 regarding ObjectReference, 9 related ObjectReference, 10 note string, ' +
    '11 type string, 12 deprecatedSource EventSource, 13 deprecatedFirstTimestamp time, ' +
    '14 deprecatedLastTimestamp time, 15 deprecatedCount int',
  Lease: `${meta}, 2 spec LeaseSpec`,
  LeaseSpec:
    '1 holderIdentity string, 2 leaseDurationSeconds int!, 3 acquireTime microTime, 4 renewTime microTime, ' +
    '5 leaseTransitions int!, 6 strategy string, 7 preferredHolder string',
  PodDisruptionBudget: `${meta}, 2 spec PodDisruptionBudgetSpec`,
  PodDisruptionBudgetSpec:
    '1 minAvailable intOrString, 2 selector LabelSelector, 3 maxUnavailable intOrString, ' +
    '4 unhealthyPodEvictionPolicy string',
  Eviction: `${meta}, 2 deleteOptions DeleteOptions`,
  PriorityClass: `${meta}, 2 value int!, 3 globalDefault bool, 4 description string, 5 preemptionPolicy string`,

  Role: `${meta}, 2 rules PolicyRule[]`,
  ClusterRole: `${meta}, 2 rules PolicyRule[], 3 aggregationRule AggregationRule`,
  AggregationRule: '1 clusterRoleSelectors LabelSelector[]',
  PolicyRule:
    '1 verbs string[], 2 apiGroups string[], 3 resources string[], 4 resourceNames string[], 5 nonResourceURLs string[]',
  RoleBinding: subjects,
  ClusterRoleBinding: subjects,
  Subject: '1 kind string, 2 apiGroup string, 3 name string, 4 namespace string',
  RoleRef: '1 apiGroup string, 2 kind string, 3 name string',

  SelfSubjectAccessReview: `${meta}, 2 spec AccessReviewSpec`,
  SubjectAccessReview: `${meta}, 2 spec AccessReviewSpec`,
  LocalSubjectAccessReview: `${meta}, 2 spec AccessReviewSpec`,
  AccessReviewSpec: `${accessSpec}, 3 user string, 4 groups string[], 5 extra map<ExtraValue>, 6 uid string`,
  ExtraValue: '1 items string[]',
  ResourceAttributes:
    '1 namespace string, 2 verb string, 3 group string, 4 version string, 5 resource string, 6 subresource string, ' +
    '7 name string, 8 fieldSelector SelectorAttributes, 9 labelSelector SelectorAttributes',
  SelectorAttributes: '1 rawSelector string, 2 requirements Requirement[]',
  NonResourceAttributes: '1 path string, 2 verb string',
  SelfSubjectRulesReview: `${meta}, 2 spec RulesReviewSpec`,
  RulesReviewSpec: '1 namespace string',
  SelfSubjectReview: meta,
  TokenReview: `${meta}, 2 spec TokenReviewSpec`,
  TokenReviewSpec: '1 token string, 2 audiences string[]',
  TokenRequest: `${meta}, 2 spec TokenRequestSpec`,
  TokenRequestSpec: '1 audiences string[], 3 boundObjectRef BoundObjectReference, 4 expirationSeconds int!',
  BoundObjectReference: '1 kind string, 2 apiVersion string, 3 name string, 4 uid string',
};

const groups: Readonly<Record<string, readonly string[]>> = {
  v1: ['Namespace', 'ConfigMap', 'Secret', 'ServiceAccount', 'ResourceQuota', 'Service', 'Binding'],
  'events.k8s.io/v1': ['Event'],
  'coordination.k8s.io/v1': ['Lease'],
  'policy/v1': ['PodDisruptionBudget', 'Eviction'],
  'scheduling.k8s.io/v1': ['PriorityClass'],
  'rbac.authorization.k8s.io/v1': ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'],
  'authorization.k8s.io/v1': [
    'SelfSubjectAccessReview',
    'SubjectAccessReview',
    'LocalSubjectAccessReview',
    'SelfSubjectRulesReview',
  ],
  'authentication.k8s.io/v1': ['SelfSubjectReview', 'TokenReview', 'TokenRequest'],
};

/** The message of a kind; undefined if it can not be sent as protobuf here. */
export function messageOf(apiVersion: string, kind: string): string | undefined {
  // Every group has its own DeleteOptions, and they are all the same.
  if (kind === 'DeleteOptions') return kind;
  if (apiVersion === 'v1' && kind === 'Event') return 'CoreEvent';
  return groups[apiVersion]?.includes(kind) === true ? kind : undefined;
}
