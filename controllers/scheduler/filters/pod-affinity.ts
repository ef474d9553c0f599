import type { Pod, PodAffinityTerm } from '../../../openapi/generated/types/core_v1.js';
import { domainOf, requiredAntiAffinity, type Candidate, type Cluster } from '../cluster.js';
import { selectorOf } from '../selector.js';
import type { Filter } from './filter.js';

const antiAffinity = "node(s) didn't match pod anti-affinity rules";
const othersAntiAffinity = "node(s) didn't satisfy existing pods anti-affinity rules";
export const antiAffinityReasons: readonly string[] = [antiAffinity, othersAntiAffinity];

export const podAffinity: Filter = (pod, cluster) => {
  const wanted = (pod.spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(
    (term) => nearness(term, pod, cluster),
  );
  const unwanted = requiredAntiAffinity(pod).map((term) => neighbours(term, pod, cluster));
  const isRefusedByOthers = refusalOfOthers(pod, cluster);
  return (candidate) => {
    if (wanted.some((isNear) => !isNear(candidate))) return ["node(s) didn't match pod affinity rules"];
    if (unwanted.some((hasNeighbours) => hasNeighbours(candidate))) return [antiAffinity];
    return isRefusedByOthers(candidate) ? [othersAntiAffinity] : [];
  };
};

type Test = (candidate: Candidate) => boolean;

/** The first pod of a group that wants to be together may go anywhere. */
function nearness(term: PodAffinityTerm, pod: Pod, cluster: Cluster): Test {
  const hasNeighbours = neighbours(term, pod, cluster);
  const matches = matcherOf(term, pod, cluster);
  const isFirst = matches(pod) && !cluster.candidates.some(({ pods }) => pods.some(matches));
  return (candidate) =>
    domainOf(candidate.node, term.topologyKey) !== undefined && (isFirst || hasNeighbours(candidate));
}

/** Whether pods that the term selects run where the candidate stands. */
export function neighbours(term: PodAffinityTerm, pod: Pod, cluster: Cluster): Test {
  const matches = matcherOf(term, pod, cluster);
  const taken = new Set(
    cluster.candidates
      .filter(({ pods }) => pods.some(matches))
      .map(({ node }) => domainOf(node, term.topologyKey)),
  );
  return ({ node }) => {
    const domain = domainOf(node, term.topologyKey);
    return domain !== undefined && taken.has(domain);
  };
}

/** Pods that run already and want no pod like this one beside them. */
function refusalOfOthers(pod: Pod, cluster: Cluster): Test {
  const kept = new Map<string, Set<string>>();
  for (const { node, repelling } of cluster.candidates)
    for (const other of repelling)
      for (const term of requiredAntiAffinity(other)) {
        const { topologyKey } = term;
        const domain = domainOf(node, topologyKey);
        const known = kept.get(topologyKey);
        if (domain === undefined || known?.has(domain) === true || !matcherOf(term, other, cluster)(pod))
          continue;
        if (known === undefined) kept.set(topologyKey, new Set([domain]));
        else known.add(domain);
      }
  return ({ node }) =>
    [...kept].some(([topologyKey, domains]) => {
      const domain = domainOf(node, topologyKey);
      return domain !== undefined && domains.has(domain);
    });
}

/** `owner`: the pod whose term it is; its namespace counts where the term names none. */
function matcherOf(term: PodAffinityTerm, owner: Pod, cluster: Cluster): (other: Pod) => boolean {
  const { namespaces, namespaceSelector } = term;
  const named = namespaces ?? [];
  const own = named.length === 0 && namespaceSelector === undefined ? [owner.metadata.namespace] : named;
  const selector = selectorOf(term.labelSelector);
  return ({ metadata: { namespace = '', labels } }) => {
    const inNamespace = (): boolean =>
      own.includes(namespace) ||
      // An empty selector of namespaces means all.
      (namespaceSelector !== undefined &&
        selectorOf(namespaceSelector).matches(cluster.namespaceLabels?.(namespace)));
    return selector.matches(labels) && inNamespace();
  };
}
