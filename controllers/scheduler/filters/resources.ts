import type { Pod } from '../../../openapi/generated/types/core_v1.js';
import type { Candidate } from '../cluster.js';
import { podRequests } from '../pod-requests.js';
import type { Filter } from './filter.js';

/** Pods that a node takes if it does not say. */
const defaultPods = 110;

export const tooManyPods = 'Too many pods';
/** A resource's name follows. */
export const insufficient = 'Insufficient ';

/** Even an empty node would not have enough. */
export function exceedsNode(pod: Pod, { node, allocatable }: Candidate): boolean {
  const empty = { node, pods: [], repelling: [], allocatable, requested: new Map() };
  return resources(pod, { candidates: [] })(empty).length > 0;
}

export const resources: Filter =
  (pod) =>
  ({ pods, allocatable, requested }) => {
    const problems = [...podRequests(pod)]
      .filter(
        ([name, amount]) =>
          // Nodes that do not report their disk are not asked about it.
          amount > 0 &&
          !(name === 'ephemeral-storage' && !allocatable.has(name)) &&
          amount > (allocatable.get(name) ?? 0) - (requested.get(name) ?? 0),
      )
      .map(([name]) => `${insufficient}${name}`);
    return pods.length + 1 > (allocatable.get('pods') ?? defaultPods) ? [tooManyPods, ...problems] : problems;
  };
