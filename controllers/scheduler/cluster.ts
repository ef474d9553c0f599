/** What the scheduler knows while it looks for a node for one pod. */
import type { Node, Pod, PodAffinityTerm } from '../../openapi/generated/types/core_v1.js';
import type { PodDisruptionBudget } from '../../openapi/generated/types/policy_v1.js';
import { podRequests, toAmounts, type Amounts } from './pod-requests.js';

export interface Candidate {
  readonly node: Node;
  /** Those that are bound to it and have not ended. */
  readonly pods: readonly Pod[];
  /** Those of them that must not share a domain with others: few, where there are many pods. */
  readonly repelling: readonly Pod[];
  readonly allocatable: Amounts;
  readonly requested: Amounts;
}

export interface Cluster {
  readonly candidates: readonly Candidate[];
  /** Labels of a namespace. Absent: nobody knows them, and no selector by label selects one. */
  readonly namespaceLabels?: (name: string) => Readonly<Record<string, string>> | undefined;
  /** Disruption budgets of a pod; none if absent. */
  readonly budgetsOf?: (pod: Pod) => readonly PodDisruptionBudget[];
}

/** `assumed`: nodes of pods that have been bound, where the informer does not show it yet; by UID. */
export function clusterOf(
  nodes: readonly Node[],
  pods: readonly Pod[],
  assumed: ReadonlyMap<string, string>,
): Cluster {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const { phase } = pod.status ?? {};
    const node = pod.spec?.nodeName ?? assumed.get(pod.metadata.uid);
    if (node === undefined || phase === 'Succeeded' || phase === 'Failed') continue;
    const there = byNode.get(node);
    if (there === undefined) byNode.set(node, [pod]);
    else there.push(pod);
  }
  return { candidates: nodes.map((node) => candidateOf(node, byNode.get(node.metadata.name) ?? [])) };
}

export function candidateOf(node: Node, pods: readonly Pod[]): Candidate {
  const requested = new Map<string, number>();
  for (const pod of pods)
    for (const [name, amount] of podRequests(pod)) requested.set(name, (requested.get(name) ?? 0) + amount);
  const repelling = pods.filter((pod) => requiredAntiAffinity(pod).length > 0);
  return { node, pods, repelling, allocatable: toAmounts(node.status?.allocatable), requested };
}

export function requiredAntiAffinity({ spec }: Pod): readonly PodAffinityTerm[] {
  return spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

/** Where a node stands on a topology key; undefined: nowhere. */
export function domainOf(node: Node, topologyKey: string): string | undefined {
  return topologyKey === 'kubernetes.io/hostname'
    ? (node.metadata.labels?.[topologyKey] ?? node.metadata.name)
    : node.metadata.labels?.[topologyKey];
}
