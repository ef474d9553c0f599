/** Policies with what binds them. A policy that nothing binds concerns no write. */
import type { MatchDependencies } from '../webhook-admission/matching.js';
import { resourceMatcher, type ResourceMatcher } from './matching.js';
import type { AdmissionPolicy, CommonSpec, PolicyBinding } from './types.js';

export interface Binding {
  readonly object: PolicyBinding;
  /** Undefined: as the policy's. */
  readonly matcher: ResourceMatcher | undefined;
}

export interface BoundPolicy<Spec extends CommonSpec> {
  readonly object: AdmissionPolicy<Spec>;
  readonly matcher: ResourceMatcher;
  readonly bindings: readonly Binding[];
}

/** Those that are bound, by name. */
export function bindPolicies<Spec extends CommonSpec>(
  policies: readonly AdmissionPolicy<Spec>[],
  bindings: readonly PolicyBinding[],
  dependencies: MatchDependencies,
): readonly BoundPolicy<Spec>[] {
  const byName = <T extends { readonly metadata: { readonly name: string } }>(a: T, b: T): number =>
    a.metadata.name < b.metadata.name ? -1 : 1;
  return [...policies].sort(byName).flatMap((object): BoundPolicy<Spec>[] => {
    const own = bindings.filter(({ spec }) => spec?.policyName === object.metadata.name).sort(byName);
    if (own.length === 0) return [];
    return [
      {
        object,
        matcher: resourceMatcher(object.spec?.matchConstraints ?? {}, dependencies),
        bindings: own.map((binding) => ({
          object: binding,
          matcher:
            binding.spec?.matchResources === undefined
              ? undefined
              : resourceMatcher(binding.spec.matchResources, dependencies),
        })),
      },
    ];
  });
}
