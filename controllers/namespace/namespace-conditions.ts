/** How far the deletion of a namespace has come, in the words of kube-controller-manager. */
import { withCondition, type AnyCondition, type Conditions } from '../runtime/conditions.js';
import type { Remaining } from './namespace-contents.js';

export interface Progress {
  readonly discoveryFailure: string | undefined;
  readonly contentFailure: string | undefined;
  readonly remaining: readonly Remaining[];
}

export function namespaceConditions(before: Conditions, progress: Progress, now: number): AnyCondition[] {
  const { discoveryFailure, contentFailure, remaining } = progress;
  const content = remaining
    .map(
      ({ kind, count }) =>
        `${kind.resource}${kind.group === '' ? '' : `.${kind.group}`} has ${count} resource instances`,
    )
    .join(', ');
  const finalizers = new Map<string, number>();
  for (const each of remaining)
    for (const [name, count] of each.finalizers) finalizers.set(name, (finalizers.get(name) ?? 0) + count);
  const held = [...finalizers].map(([name, count]) => `${name} in ${count} resource instances`).join(', ');
  let conditions: AnyCondition[] = [...(before ?? [])];
  const set = (type: string, problem: string | undefined, bad: string, good: string, fine: string): void => {
    conditions = withCondition(
      conditions,
      problem === undefined
        ? { type, status: 'False', reason: good, message: fine }
        : { type, status: 'True', reason: bad, message: problem },
      now,
    );
  };
  set(
    'NamespaceDeletionDiscoveryFailure',
    discoveryFailure,
    'DiscoveryFailed',
    'ResourcesDiscovered',
    'all kinds have been discovered',
  );
  set(
    'NamespaceDeletionContentFailure',
    contentFailure,
    'ContentDeletionFailed',
    'ContentDeleted',
    'all content has been asked to go',
  );
  set(
    'NamespaceContentRemaining',
    content === '' ? undefined : `Some resources are remaining: ${content}`,
    'SomeResourcesRemain',
    'ContentRemoved',
    'all content has gone',
  );
  set(
    'NamespaceFinalizersRemaining',
    held === '' ? undefined : `Some content in the namespace has finalizers remaining: ${held}`,
    'SomeFinalizersRemain',
    'ContentHasNoFinalizers',
    'no finalizer holds content back',
  );
  return conditions;
}
