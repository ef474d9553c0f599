/** Which pods have to go so that a more important one finds a node. Pure. */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import { candidateOf, type Candidate, type Cluster } from './cluster.js';
import { antiAffinityReasons } from './filters/pod-affinity.js';
import { exceedsNode, insufficient, tooManyPods } from './filters/resources.js';
import { skewReason } from './filters/topology-spread.js';
import { explain, refusing } from './placement.js';

export type Preemption =
  | { readonly kind: 'victims'; readonly node: string; readonly victims: readonly Pod[] }
  /** As kube-scheduler words it. */
  | { readonly kind: 'none'; readonly message: string };

const notHelpful = 'Preemption is not helpful for scheduling';
const noVictims = 'No preemption victims found for incoming pod';

/** `refusals`: why each node was refused, by name. */
export function preempt(
  pod: Pod,
  cluster: Cluster,
  refusals: ReadonlyMap<string, readonly string[]>,
  priorityOf: (pod: Pod) => number,
): Preemption {
  const reasons = new Map<string, number>();
  const choices: Choice[] = [];
  for (const candidate of cluster.candidates) {
    const { name } = candidate.node.metadata;
    const mendable = (refusals.get(name) ?? []).every(isMendable) && !exceedsNode(pod, candidate);
    const victims = mendable ? victimsOn(candidate, pod, cluster, priorityOf) : undefined;
    if (victims !== undefined) choices.push({ node: name, victims });
    else {
      const reason = mendable ? noVictims : notHelpful;
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
  }
  const [best] = choices.sort((a, b) => compare(a, b, priorityOf));
  if (best !== undefined) return { kind: 'victims', ...best };
  return { kind: 'none', message: `preemption: ${explain(cluster.candidates.length, reasons)}` };
}

interface Choice {
  readonly node: string;
  /** The most important first. */
  readonly victims: readonly Pod[];
}

/** Fewer pods on a node would help. */
function isMendable(reason: string): boolean {
  return (
    reason === tooManyPods ||
    reason === skewReason ||
    reason.startsWith(insufficient) ||
    antiAffinityReasons.includes(reason)
  );
}

/** All that are less important go, then as many as still fit come back, the most important first. */
function victimsOn(
  candidate: Candidate,
  pod: Pod,
  cluster: Cluster,
  priorityOf: (pod: Pod) => number,
): readonly Pod[] | undefined {
  const priority = priorityOf(pod);
  const lesser = candidate.pods
    .filter((each) => priorityOf(each) < priority)
    .sort((a, b) => priorityOf(b) - priorityOf(a) || startOf(a).localeCompare(startOf(b)));
  if (lesser.length === 0) return undefined;
  const fits = (pods: readonly Pod[]): boolean => {
    const without = candidateOf(candidate.node, pods);
    const candidates = cluster.candidates.map((each) => (each === candidate ? without : each));
    return refusing(pod, { ...cluster, candidates })(without).length === 0;
  };
  let kept = candidate.pods.filter((each) => !lesser.includes(each));
  if (!fits(kept)) return undefined;
  const victims: Pod[] = [];
  for (const each of lesser)
    if (fits([...kept, each])) kept = [...kept, each];
    else victims.push(each);
  return victims;
}

/** The least harm first: by the most important victim, by the sum of all, by their number, by how long it has run. */
function compare(a: Choice, b: Choice, priorityOf: (pod: Pod) => number): number {
  const highest = ({ victims }: Choice): number => Math.max(...victims.map(priorityOf));
  const sum = ({ victims }: Choice): number => victims.reduce((total, each) => total + priorityOf(each), 0);
  const youngest = ({ victims: [first] }: Choice): string => (first === undefined ? '' : startOf(first));
  return (
    highest(a) - highest(b) ||
    sum(a) - sum(b) ||
    a.victims.length - b.victims.length ||
    youngest(b).localeCompare(youngest(a))
  );
}

const startOf = ({ metadata, status }: Pod): string => status?.startTime ?? metadata.creationTimestamp;
