/** Small kinds of policy, scheduling.k8s.io, coordination.k8s.io and apps. See ../messages.ts for the notation. */
export const smallGroupMessages = `
PodDisruptionBudget: 1 metadata ObjectMeta, 2 spec PodDisruptionBudgetSpec, 3 status PodDisruptionBudgetStatus
PodDisruptionBudgetSpec: 1 minAvailable intOrString?, 2 selector LabelSelector, 3 maxUnavailable intOrString?,
  4 unhealthyPodEvictionPolicy string?
PodDisruptionBudgetStatus: 1 observedGeneration int, 2 disruptedPods {time}, 3 disruptionsAllowed int?,
  4 currentHealthy int?, 5 desiredHealthy int?, 6 expectedPods int?, 7 conditions [Condition]
Eviction: 1 metadata ObjectMeta, 2 deleteOptions DeleteOptions
PriorityClass: 1 metadata ObjectMeta, 2 value int?, 3 globalDefault bool, 4 description string,
  5 preemptionPolicy string?
Lease: 1 metadata ObjectMeta, 2 spec LeaseSpec
LeaseSpec: 1 holderIdentity string?, 2 leaseDurationSeconds int?, 3 acquireTime microTime, 4 renewTime microTime,
  5 leaseTransitions int?, 6 strategy string?, 7 preferredHolder string?
ControllerRevision: 1 metadata ObjectMeta, 2 data json, 3 revision int?
`;
