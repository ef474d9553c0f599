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
    const choice = mendable ? choiceOn(candidate, pod, cluster, priorityOf) : undefined;
    if (choice !== undefined) choices.push(choice);
    else {
      const reason = mendable ? noVictims : notHelpful;
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
  }
  const [best] = choices.sort((a, b) => compare(a, b, priorityOf));
  if (best !== undefined) return { kind: 'victims', node: best.node, victims: best.victims };
  return { kind: 'none', message: `preemption: ${explain(cluster.candidates.length, reasons)}` };
}

interface Choice {
  readonly node: string;
  /** The most important first. */
  readonly victims: readonly Pod[];
  /** How many of them a disruption budget would rather keep. */
  readonly violations: number;
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

/** All that are less important go, then as many as still fit come back: those that a budget holds first, then the most important. */
function choiceOn(
  candidate: Candidate,
  pod: Pod,
  cluster: Cluster,
  priorityOf: (pod: Pod) => number,
): Choice | undefined {
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
  const held = heldByBudgets(lesser, cluster.budgetsOf);
  const victims = new Set<Pod>();
  for (const each of [...held, ...lesser.filter((other) => !held.has(other))])
    if (fits([...kept, each])) kept = [...kept, each];
    else victims.add(each);
  return {
    node: candidate.node.metadata.name,
    victims: lesser.filter((each) => victims.has(each)),
    violations: [...victims].filter((each) => held.has(each)).length,
  };
}

/** Those whose removal one of their budgets no longer allows, once those before them have gone. */
function heldByBudgets(pods: readonly Pod[], budgetsOf: Cluster['budgetsOf']): ReadonlySet<Pod> {
  const left = new Map<string, number>();
  const held = new Set<Pod>();
  for (const pod of pods)
    for (const { metadata, status } of budgetsOf?.(pod) ?? []) {
      // Its eviction has been counted already.
      if (status?.disruptedPods?.[pod.metadata.name] !== undefined) continue;
      const allowed = (left.get(metadata.uid) ?? status?.disruptionsAllowed ?? 0) - 1;
      left.set(metadata.uid, allowed);
      if (allowed < 0) held.add(pod);
    }
  return held;
}

/** The least harm first: by budgets that are not kept, by the most important victim, by the sum of all, by their number, by how long it has run. */
function compare(a: Choice, b: Choice, priorityOf: (pod: Pod) => number): number {
  const highest = ({ victims }: Choice): number => Math.max(...victims.map(priorityOf));
  const sum = ({ victims }: Choice): number => victims.reduce((total, each) => total + priorityOf(each), 0);
  const youngest = ({ victims: [first] }: Choice): string => (first === undefined ? '' : startOf(first));
  return (
    a.violations - b.violations ||
    highest(a) - highest(b) ||
    sum(a) - sum(b) ||
    a.victims.length - b.victims.length ||
    youngest(b).localeCompare(youngest(a))
  );
}

const startOf = ({ metadata, status }: Pod): string => status?.startTime ?? metadata.creationTimestamp;
