import { podRequests } from '../pod-requests.js';
import type { Filter } from './filter.js';

/** Pods that a node takes if it does not say. */
const defaultPods = 110;

export const resources: Filter = (pod, { pods, allocatable, requested }) => {
  const problems = [...podRequests(pod)]
    .filter(
      ([name, amount]) =>
        // Nodes that do not report their disk are not asked about it.
        amount > 0 &&
        !(name === 'ephemeral-storage' && !allocatable.has(name)) &&
        amount > (allocatable.get(name) ?? 0) - (requested.get(name) ?? 0),
    )
    .map(([name]) => `Insufficient ${name}`);
  return pods.length + 1 > (allocatable.get('pods') ?? defaultPods)
    ? ['Too many pods', ...problems]
    : problems;
};
