import type { Pod, TopologySpreadConstraint } from '../../../openapi/generated/types/core_v1.js';
import { domainOf, type Candidate, type Cluster } from '../cluster.js';
import { selectorOf } from '../selector.js';
import type { Filter } from './filter.js';
import { nodeAffinity } from './node-affinity.js';
import { taints } from './taints.js';

export const skewReason = "node(s) didn't match pod topology spread constraints";

export const topologySpread: Filter = (pod, candidate, cluster) => {
  const hard = (pod.spec?.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule',
  );
  for (const constraint of hard) {
    if (domainOf(candidate.node, constraint.topologyKey) === undefined)
      return [`${skewReason} (missing required label)`];
    if (skew(constraint, pod, candidate, cluster) > constraint.maxSkew) return [skewReason];
  }
  return [];
};

/** How far the candidate's domain would be ahead of the emptiest one with the pod in it. */
export function skew(
  constraint: TopologySpreadConstraint,
  pod: Pod,
  candidate: Candidate,
  cluster: Cluster,
): number {
  const selector = selectorOf(constraint.labelSelector);
  const { matchLabelKeys = [] } = constraint;
  const own = pod.metadata.labels;
  const sameGroup = (labels: typeof own): boolean =>
    matchLabelKeys.every((key) => own?.[key] === undefined || own[key] === labels?.[key]);
  const counts = new Map<string, number>();
  for (const other of cluster.candidates) {
    const domain = domainOf(other.node, constraint.topologyKey);
    if (domain === undefined) continue;
    if (constraint.nodeAffinityPolicy !== 'Ignore' && nodeAffinity(pod, other, cluster).length > 0) continue;
    if (constraint.nodeTaintsPolicy === 'Honor' && taints(pod, other, cluster).length > 0) continue;
    const matching = other.pods.filter(
      ({ metadata }) =>
        metadata.namespace === pod.metadata.namespace &&
        metadata.deletionTimestamp === undefined &&
        selector.matches(metadata.labels) &&
        sameGroup(metadata.labels),
    );
    counts.set(domain, (counts.get(domain) ?? 0) + matching.length);
  }
  const here = counts.get(domainOf(candidate.node, constraint.topologyKey) ?? '') ?? 0;
  const fewDomains = counts.size < (constraint.minDomains ?? 1);
  const least = fewDomains || counts.size === 0 ? 0 : Math.min(...counts.values());
  return here + (selector.matches(pod.metadata.labels) ? 1 : 0) - least;
}
