import type { Pod } from '../../../openapi/generated/types/core_v1.js';
import type { Candidate, Cluster } from '../cluster.js';

/** Why the pod can not run on a node, in the words of kube-scheduler's events; empty if it can. */
export type Filter = (pod: Pod, candidate: Candidate, cluster: Cluster) => readonly string[];
