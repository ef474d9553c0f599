/** Chooses a node for a pod. Pure. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { Candidate, Cluster } from './cluster.js';
import type { Filter } from './filters/filter.js';
import { nodeAffinity } from './filters/node-affinity.js';
import { nodeReady } from './filters/node-ready.js';
import { podAffinity } from './filters/pod-affinity.js';
import { resources } from './filters/resources.js';
import { taints } from './filters/taints.js';
import { topologySpread } from './filters/topology-spread.js';
import { scoring } from './scores.js';

export type Placement =
  | { readonly kind: 'node'; readonly name: string }
  /** `message` as kube-scheduler words it: `0/3 nodes are available: 2 Insufficient memory, 1 node(s) …`. */
  | {
      readonly kind: 'none';
      readonly message: string;
      /** Why each node was refused, by name. */
      readonly refusals: ReadonlyMap<string, readonly string[]>;
    };

/** In the order in which their reasons are the more telling ones. */
const filters: readonly Filter[] = [taints, nodeReady, nodeAffinity, resources, podAffinity, topologySpread];

export function place(pod: Pod, cluster: Cluster): Placement {
  const refusals = new Map<string, readonly string[]>();
  const refusal = refusing(pod, cluster);
  const score = scoring(pod, cluster);
  let best: { name: string; score: number } | undefined;
  for (const candidate of cluster.candidates) {
    const why = refusal(candidate);
    if (why.length > 0) {
      refusals.set(candidate.node.metadata.name, why);
      continue;
    }
    const reached = score(candidate);
    if (best === undefined || reached > best.score)
      best = { name: candidate.node.metadata.name, score: reached };
  }
  if (best !== undefined) return { kind: 'node', name: best.name };
  return { kind: 'none', message: explain(cluster.candidates.length, counted(refusals)), refusals };
}

function counted(refusals: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const reason of [...refusals.values()].flat()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return counts;
}

/** Why a candidate can not run the pod. Empty: it can. */
export function refusing(pod: Pod, cluster: Cluster): (candidate: Candidate) => readonly string[] {
  const prepared = filters.map((filter) => filter(pod, cluster));
  return (candidate) => {
    for (const filter of prepared) {
      const why = filter(candidate);
      if (why.length > 0) return why;
    }
    return [];
  };
}

/** How many nodes were refused for which reason. */
export function explain(total: number, refusals: ReadonlyMap<string, number>): string {
  if (total === 0) return 'no nodes available to schedule pods';
  const reasons = [...refusals].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${total} nodes are available: ${reasons.join(', ')}.`;
}
