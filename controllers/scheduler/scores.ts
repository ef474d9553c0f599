/** Which of the nodes that would do is best. Higher is better; each part lies between 0 and 100. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { Candidate, Cluster } from './cluster.js';
import { matchesTerm } from './filters/node-affinity.js';
import { podsNear } from './filters/pod-affinity.js';
import { isTolerated } from './filters/taints.js';
import { skew } from './filters/topology-spread.js';
import { podRequests } from './pod-requests.js';

export function score(pod: Pod, candidate: Candidate, cluster: Cluster): number {
  return (
    leastAllocated(pod, candidate) +
    2 * preferredNodes(pod, candidate) +
    2 * preferredPods(pod, candidate, cluster) +
    2 * spread(pod, candidate, cluster) +
    3 * preferNoSchedule(pod, candidate)
  );
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

function preferredPods(pod: Pod, candidate: Candidate, cluster: Cluster): number {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {};
  const near = podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const apart = podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const found = (term: (typeof near)[number]): boolean =>
    podsNear(term.podAffinityTerm, pod, candidate, cluster).length > 0;
  return share([
    ...near.map((term): [number, boolean] => [term.weight, found(term)]),
    ...apart.map((term): [number, boolean] => [term.weight, !found(term)]),
  ]);
}

/** Soft constraints: the emptier the domain, the better. */
function spread(pod: Pod, candidate: Candidate, cluster: Cluster): number {
  const soft = (pod.spec?.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === 'ScheduleAnyway',
  );
  if (soft.length === 0) return 0;
  const ahead = soft.map((constraint) => Math.max(0, skew(constraint, pod, candidate, cluster)));
  return 100 / (1 + ahead.reduce((sum, each) => sum + each, 0));
}

function preferNoSchedule(pod: Pod, { node }: Candidate): number {
  const unwanted = (node.spec?.taints ?? []).filter(
    (taint) => taint.effect === 'PreferNoSchedule' && !isTolerated(taint, pod.spec?.tolerations),
  );
  return 100 / (1 + unwanted.length);
}

function share(parts: readonly (readonly [weight: number, matches: boolean])[]): number {
  const total = parts.reduce((sum, [weight]) => sum + weight, 0);
  const reached = parts.reduce((sum, [weight, matches]) => sum + (matches ? weight : 0), 0);
  return total === 0 ? 0 : (100 * reached) / total;
}
