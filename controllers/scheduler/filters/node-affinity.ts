import type {
  Node,
  NodeSelectorRequirement,
  NodeSelectorTerm,
} from '../../../openapi/generated/types/core_v1.js';
import type { Filter } from './filter.js';

export const nodeAffinity: Filter = (pod) => {
  const { nodeSelector = {}, affinity, nodeName } = pod.spec ?? {};
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return ({ node }) => {
    const labels = node.metadata.labels ?? {};
    const matches =
      (nodeName === undefined || nodeName === node.metadata.name) &&
      Object.entries(nodeSelector).every(([key, value]) => labels[key] === value) &&
      (required === undefined || required.nodeSelectorTerms.some((term) => matchesTerm(node, term)));
    return matches ? [] : ["node(s) didn't match Pod's node affinity/selector"];
  };
};

/** A term without any requirement matches nothing. */
export function matchesTerm(
  node: Node,
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const labels = node.metadata.labels ?? {};
  return (
    matchExpressions.every((requirement) => matches(requirement, labels[requirement.key])) &&
    matchFields.every((requirement) =>
      matches(requirement, requirement.key === 'metadata.name' ? node.metadata.name : undefined),
    )
  );
}

function matches({ operator, values = [] }: NodeSelectorRequirement, actual: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return actual !== undefined && values.includes(actual);
    case 'NotIn':
      return actual === undefined || !values.includes(actual);
    case 'Exists':
      return actual !== undefined;
    case 'DoesNotExist':
      return actual === undefined;
    case 'Gt':
      return actual !== undefined && Number(actual) > Number(values[0]);
    case 'Lt':
      return actual !== undefined && Number(actual) < Number(values[0]);
  }
}
