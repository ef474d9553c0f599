/** Kinds of the core group besides pods, nodes and volumes. See ../messages.ts for the notation. */
export const coreMessages = `
Namespace: 1 metadata ObjectMeta, 2 spec NamespaceSpec, 3 status NamespaceStatus
NamespaceSpec: 1 finalizers [string]
NamespaceStatus: 1 phase string, 2 conditions [NamespaceCondition]
NamespaceCondition: 1 type string?, 2 status string?, 4 lastTransitionTime time, 5 reason string, 6 message string
ConfigMap: 1 metadata ObjectMeta, 2 data {string}, 3 binaryData {bytes}, 4 immutable bool?
Secret: 1 metadata ObjectMeta, 2 data {bytes}, 3 type string, 4 stringData {string}, 5 immutable bool?
ServiceAccount: 1 metadata ObjectMeta, 2 secrets [ObjectReference], 3 imagePullSecrets [LocalObjectReference],
  4 automountServiceAccountToken bool?
Service: 1 metadata ObjectMeta, 2 spec ServiceSpec, 3 status ServiceStatus
ServiceSpec: 1 ports [ServicePort], 2 selector {string}, 3 clusterIP string, 4 type string,
  5 externalIPs [string], 7 sessionAffinity string, 8 loadBalancerIP string, 9 loadBalancerSourceRanges [string],
  10 externalName string, 11 externalTrafficPolicy string, 12 healthCheckNodePort int,
  13 publishNotReadyAddresses bool, 14 sessionAffinityConfig SessionAffinityConfig, 17 ipFamilyPolicy string?,
  18 clusterIPs [string], 19 ipFamilies [string], 20 allocateLoadBalancerNodePorts bool?,
  21 loadBalancerClass string?, 22 internalTrafficPolicy string?, 23 trafficDistribution string?
ServicePort: 1 name string, 2 protocol string, 3 port int?, 4 targetPort intOrString, 5 nodePort int,
  6 appProtocol string?
SessionAffinityConfig: 1 clientIP ClientIPConfig
ClientIPConfig: 1 timeoutSeconds int?
ServiceStatus: 1 loadBalancer LoadBalancerStatus, 2 conditions [Condition]
LoadBalancerStatus: 1 ingress [LoadBalancerIngress]
LoadBalancerIngress: 1 ip string, 2 hostname string, 3 ipMode string?, 4 ports [PortStatus]
PortStatus: 1 port int?, 2 protocol string?, 3 error string?
ResourceQuota: 1 metadata ObjectMeta, 2 spec ResourceQuotaSpec, 3 status ResourceQuotaStatus
ResourceQuotaSpec: 1 hard {quantity}, 2 scopes [string], 3 scopeSelector ScopeSelector
ScopeSelector: 1 matchExpressions [ScopedResourceSelectorRequirement]
ScopedResourceSelectorRequirement: 1 scopeName string?, 2 operator string?, 3 values [string]
ResourceQuotaStatus: 1 hard {quantity}, 2 used {quantity}
Event: 1 metadata ObjectMeta, 2 involvedObject ObjectReference, 3 reason string, 4 message string,
  5 source EventSource, 6 firstTimestamp time, 7 lastTimestamp time, 8 count int, 9 type string,
  10 eventTime microTime, 11 series EventSeries, 12 action string, 13 related ObjectReference,
  14 reportingComponent string?, 15 reportingInstance string?
EventSource: 1 component string, 2 host string
EventSeries: 1 count int, 2 lastObservedTime microTime
Binding: 1 metadata ObjectMeta, 2 target ObjectReference
`;
