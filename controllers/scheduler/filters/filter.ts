import type { Pod } from '../../../openapi/generated/types/core_v1.js';
import type { Candidate, Cluster } from '../cluster.js';

/**
 * Why the pod can not run on a node, in the words of kube-scheduler's events; empty if it can. What is the same for all nodes is worked
 * out by the first call, so that a cluster of many pods is gone through once and not once for each node.
 */
export type Filter = (pod: Pod, cluster: Cluster) => (candidate: Candidate) => readonly string[];
