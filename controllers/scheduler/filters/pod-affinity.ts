import type { Pod, PodAffinityTerm } from '../../../openapi/generated/types/core_v1.js';
import { domainOf, type Candidate, type Cluster } from '../cluster.js';
import { selectorOf } from '../selector.js';
import type { Filter } from './filter.js';

const antiAffinity = "node(s) didn't match pod anti-affinity rules";
const othersAntiAffinity = "node(s) didn't satisfy existing pods anti-affinity rules";
export const antiAffinityReasons: readonly string[] = [antiAffinity, othersAntiAffinity];

export const podAffinity: Filter = (pod, candidate, cluster) => {
  const { podAffinity: near, podAntiAffinity: apart } = pod.spec?.affinity ?? {};
  const wanted = near?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (wanted.some((term) => !isNear(term, pod, candidate, cluster)))
    return ["node(s) didn't match pod affinity rules"];
  const unwanted = apart?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  if (unwanted.some((term) => podsNear(term, pod, candidate, cluster).length > 0)) return [antiAffinity];
  return refusedByOthers(pod, candidate, cluster) ? [othersAntiAffinity] : [];
};

/** The first pod of a group that wants to be together may go anywhere. */
function isNear(term: PodAffinityTerm, pod: Pod, candidate: Candidate, cluster: Cluster): boolean {
  if (domainOf(candidate.node, term.topologyKey) === undefined) return false;
  if (podsNear(term, pod, candidate, cluster).length > 0) return true;
  const anywhere = cluster.candidates.some(({ pods }) =>
    pods.some((other) => selects(term, pod, other, cluster)),
  );
  return !anywhere && selects(term, pod, pod, cluster);
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
    .flatMap(({ pods }) => pods.filter((other) => selects(term, pod, other, cluster)));
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
            selects(term, other, pod, cluster)
          );
        },
      ),
    ),
  );
}

/** `owner`: the pod whose term it is; its namespace counts where the term names none. */
function selects(term: PodAffinityTerm, owner: Pod, other: Pod, cluster: Cluster): boolean {
  const { namespaces, namespaceSelector } = term;
  const named = namespaces ?? [];
  const own = named.length === 0 && namespaceSelector === undefined ? [owner.metadata.namespace] : named;
  const { namespace = '', labels } = other.metadata;
  const inNamespace = (): boolean =>
    own.includes(namespace) ||
    // An empty selector of namespaces means all.
    (namespaceSelector !== undefined &&
      selectorOf(namespaceSelector).matches(cluster.namespaceLabels?.(namespace)));
  return selectorOf(term.labelSelector).matches(labels) && inNamespace();
}
