/** How far the deletion of a namespace has come, in the words of kube-controller-manager. */
import { withCondition, type AnyCondition, type Conditions } from '../runtime/conditions.js';
import type { Remaining } from './namespace-contents.js';

export interface Progress {
  readonly discoveryFailure: string | undefined;
  readonly contentFailure: string | undefined;
  readonly remaining: readonly Remaining[];
}

/** Of each type: what it is called when all is well, and else. */
const types = {
  NamespaceDeletionDiscoveryFailure: {
    bad: 'DiscoveryFailed',
    good: 'ResourcesDiscovered',
    fine: 'All resources successfully discovered',
  },
  NamespaceDeletionGroupVersionParsingFailure: {
    bad: 'GroupVersionParsingFailed',
    good: 'ParsedGroupVersions',
    fine: 'All legacy kube types successfully parsed',
  },
  NamespaceDeletionContentFailure: {
    bad: 'ContentDeletionFailed',
    good: 'ContentDeleted',
    fine: 'All content successfully deleted, may be waiting on finalization',
  },
  NamespaceContentRemaining: {
    bad: 'SomeResourcesRemain',
    good: 'ContentRemoved',
    fine: 'All content successfully removed',
  },
  NamespaceFinalizersRemaining: {
    bad: 'SomeFinalizersRemain',
    good: 'ContentHasNoFinalizers',
    fine: 'All content-preserving finalizers finished',
  },
} as const;

export function namespaceConditions(before: Conditions, progress: Progress, now: number): AnyCondition[] {
  const problems: Readonly<Record<keyof typeof types, string | undefined>> = {
    NamespaceDeletionDiscoveryFailure: progress.discoveryFailure,
    // Discovery tells versions apart before they get here.
    NamespaceDeletionGroupVersionParsingFailure: undefined,
    NamespaceDeletionContentFailure: progress.contentFailure,
    NamespaceContentRemaining: contentLeft(progress),
    NamespaceFinalizersRemaining: finalizersLeft(progress),
  };
  let conditions: AnyCondition[] = [...(before ?? [])];
  for (const [type, { bad, good, fine }] of Object.entries(types)) {
    // The keys are those of both tables.
    const problem = problems[type as keyof typeof types];
    const wanted =
      problem === undefined
        ? ({ type, status: 'False', reason: good, message: fine } as const)
        : ({ type, status: 'True', reason: bad, message: problem } as const);
    conditions = withCondition(conditions, wanted, now);
  }
  return conditions;
}

/** `configmaps.` with its dot: the group's name follows it, which the core group has none of. */
function contentLeft({ remaining }: Progress): string | undefined {
  if (remaining.length === 0) return undefined;
  const parts = remaining.map(
    ({ kind, count }) => `${kind.resource}.${kind.group} has ${count} resource instances`,
  );
  return `Some resources are remaining: ${parts.sort().join(', ')}`;
}

function finalizersLeft({ remaining }: Progress): string | undefined {
  const counts = new Map<string, number>();
  for (const { finalizers } of remaining)
    for (const [name, count] of finalizers) counts.set(name, (counts.get(name) ?? 0) + count);
  if (counts.size === 0) return undefined;
  const parts = [...counts].map(([name, count]) => `${name} in ${count} resource instances`);
  return `Some content in the namespace has finalizers remaining: ${parts.sort().join(', ')}`;
}
