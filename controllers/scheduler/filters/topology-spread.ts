import type { Pod, TopologySpreadConstraint } from '../../../openapi/generated/types/core_v1.js';
import { domainOf, type Candidate, type Cluster } from '../cluster.js';
import { selectorOf } from '../selector.js';
import type { Filter } from './filter.js';
import { nodeAffinity } from './node-affinity.js';
import { taints } from './taints.js';

export const skewReason = "node(s) didn't match pod topology spread constraints";

export const topologySpread: Filter = (pod, cluster) => {
  const hard = (pod.spec?.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule')
    .map((constraint) => ({ constraint, skew: skews(constraint, pod, cluster) }));
  return (candidate) => {
    for (const { constraint, skew } of hard) {
      if (domainOf(candidate.node, constraint.topologyKey) === undefined)
        return [`${skewReason} (missing required label)`];
      if (skew(candidate) > constraint.maxSkew) return [skewReason];
    }
    return [];
  };
};

/** How far a candidate's domain would be ahead of the emptiest one with the pod in it. */
export function skews(
  constraint: TopologySpreadConstraint,
  pod: Pod,
  cluster: Cluster,
): (candidate: Candidate) => number {
  const selector = selectorOf(constraint.labelSelector);
  const { matchLabelKeys = [] } = constraint;
  const own = pod.metadata.labels;
  const sameGroup = (labels: typeof own): boolean =>
    matchLabelKeys.every((key) => own?.[key] === undefined || own[key] === labels?.[key]);
  const affinity = nodeAffinity(pod, cluster);
  const taint = taints(pod, cluster);
  const counts = new Map<string, number>();
  for (const other of cluster.candidates) {
    const domain = domainOf(other.node, constraint.topologyKey);
    if (domain === undefined) continue;
    if (constraint.nodeAffinityPolicy !== 'Ignore' && affinity(other).length > 0) continue;
    if (constraint.nodeTaintsPolicy === 'Honor' && taint(other).length > 0) continue;
    const matching = other.pods.filter(
      ({ metadata }) =>
        metadata.namespace === pod.metadata.namespace &&
        metadata.deletionTimestamp === undefined &&
        selector.matches(metadata.labels) &&
        sameGroup(metadata.labels),
    );
    counts.set(domain, (counts.get(domain) ?? 0) + matching.length);
  }
  const fewDomains = counts.size < (constraint.minDomains ?? 1);
  const least = fewDomains || counts.size === 0 ? 0 : Math.min(...counts.values());
  const itself = selector.matches(pod.metadata.labels) ? 1 : 0;
  return ({ node }) => (counts.get(domainOf(node, constraint.topologyKey) ?? '') ?? 0) + itself - least;
}
