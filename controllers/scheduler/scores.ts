/** Which of the nodes that would do is best. Higher is better; each part lies between 0 and 100. */
import type { Pod, WeightedPodAffinityTerm } from '../../openapi/generated/types/core_v1.js';
import type { Candidate, Cluster } from './cluster.js';
import { matchesTerm } from './filters/node-affinity.js';
import { neighbours } from './filters/pod-affinity.js';
import { isTolerated } from './filters/taints.js';
import { skews } from './filters/topology-spread.js';
import { podRequests } from './pod-requests.js';

type Score = (candidate: Candidate) => number;

export function scoring(pod: Pod, cluster: Cluster): Score {
  const preferredPods = preferringPods(pod, cluster);
  const spread = spreading(pod, cluster);
  return (candidate) =>
    leastAllocated(pod, candidate) +
    2 * preferredNodes(pod, candidate) +
    2 * preferredPods(candidate) +
    2 * spread(candidate) +
    3 * preferNoSchedule(pod, candidate);
}

function leastAllocated(pod: Pod, { allocatable, requested }: Candidate): number {
  const wanted = podRequests(pod);
  const free = ['cpu', 'memory'].map((name) => {
    const capacity = allocatable.get(name) ?? 0;
    const used = (requested.get(name) ?? 0) + (wanted.get(name) ?? 0);
    return capacity === 0 ? 0 : Math.max(0, (100 * (capacity - used)) / capacity);
  });
  return free.reduce((sum, part) => sum + part, 0) / free.length;
}

function preferredNodes(pod: Pod, { node }: Candidate): number {
  const terms = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return share(terms.map(({ weight, preference }) => [weight, matchesTerm(node, preference)]));
}

function preferringPods(pod: Pod, cluster: Cluster): Score {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const prepare = ({ weight, podAffinityTerm }: WeightedPodAffinityTerm, together: boolean) => {
    const hasNeighbours = neighbours(podAffinityTerm, pod, cluster);
    return (candidate: Candidate): Part => [weight, hasNeighbours(candidate) === together];
  };
  const parts = [
    ...(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((each) =>
      prepare(each, true),
    ),
    ...(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((each) =>
      prepare(each, false),
    ),
  ];
  return (candidate) => share(parts.map((part) => part(candidate)));
}

/** Soft constraints: the emptier the domain, the better. */
function spreading(pod: Pod, cluster: Cluster): Score {
  const soft = (pod.spec?.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'ScheduleAnyway')
    .map((constraint) => skews(constraint, pod, cluster));
  if (soft.length === 0) return () => 0;
  return (candidate) => 100 / (1 + soft.reduce((sum, skew) => sum + Math.max(0, skew(candidate)), 0));
}

function preferNoSchedule(pod: Pod, { node }: Candidate): number {
  const unwanted = (node.spec?.taints ?? []).filter(
    (taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(taint, pod.spec?.tolerations),
  );
  return 100 / (1 + unwanted.length);
}

type Part = readonly [weight: number, matches: boolean];

function share(parts: readonly Part[]): number {
  const total = parts.reduce((sum, [weight]) => sum + weight, 0);
  const reached = parts.reduce((sum, [weight, matches]) => sum + (matches ? weight : 0), 0);
  return total === 0 ? 0 : (100 * reached) / total;
}
