import type { Pod, PodAffinityTerm } from '../../../openapi/generated/types/core_v1.js';
import { domainOf, type Candidate, type Cluster } from '../cluster.js';
import { selectorOf } from '../selector.js';
import type { Filter } from './filter.js';

export const podAffinity: Filter = (pod, candidate, cluster) => {
  const { podAffinity: near, podAntiAffinity: apart } = pod.spec?.affinity ?? {};
  const wanted = near?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (wanted.some((term) => !isNear(term, pod, candidate, cluster)))
    return ["node(s) didn't match pod affinity rules"];
  const unwanted = apart?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (unwanted.some((term) => podsNear(term, pod, candidate, cluster).length > 0))
    return ["node(s) didn't match pod anti-affinity rules"];
  return refusedByOthers(pod, candidate, cluster)
    ? ["node(s) didn't satisfy existing pods anti-affinity rules"]
    : [];
};

/** The first pod of a group that wants to be together may go anywhere. */
function isNear(term: PodAffinityTerm, pod: Pod, candidate: Candidate, cluster: Cluster): boolean {
  if (domainOf(candidate.node, term.topologyKey) === undefined) return false;
  if (podsNear(term, pod, candidate, cluster).length > 0) return true;
  const anywhere = cluster.candidates.some(({ pods }) => pods.some((other) => selects(term, pod, other)));
  return !anywhere && selects(term, pod, pod);
}

/** Pods in the candidate's domain that the term selects. */
export function podsNear(
  term: PodAffinityTerm,
  pod: Pod,
  candidate: Candidate,
  cluster: Cluster,
): readonly Pod[] {
  const domain = domainOf(candidate.node, term.topologyKey);
  if (domain === undefined) return [];
  return cluster.candidates
    .filter(({ node }) => domainOf(node, term.topologyKey) === domain)
    .flatMap(({ pods }) => pods.filter((other) => selects(term, pod, other)));
}

function refusedByOthers(pod: Pod, candidate: Candidate, cluster: Cluster): boolean {
  return cluster.candidates.some(({ node, pods }) =>
    pods.some((other) =>
      (other.spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).some(
        (term) => {
          const domain = domainOf(node, term.topologyKey);
          return (
            domain !== undefined &&
            domain === domainOf(candidate.node, term.topologyKey) &&
            selects(term, other, pod)
          );
        },
      ),
    ),
  );
}

/** `owner`: the pod whose term it is; its namespace counts where the term names none. */
function selects(term: PodAffinityTerm, owner: Pod, other: Pod): boolean {
  const { namespaces, namespaceSelector } = term;
  const named = namespaces ?? [];
  // An empty selector of namespaces means all; one that selects some by label is not supported, and selects none.
  const everywhere = namespaceSelector !== undefined && selectorOf(namespaceSelector).everything;
  const own = named.length === 0 && namespaceSelector === undefined ? [owner.metadata.namespace] : named;
  return (
    (everywhere || own.includes(other.metadata.namespace ?? '')) &&
    selectorOf(term.labelSelector).matches(other.metadata.labels)
  );
}
