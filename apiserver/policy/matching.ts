/** Which writes a policy or binding is about. */
import type { AdmissionRequest } from '../admission/interface.js';
import { compileSelector } from '../webhook-admission/configuration.js';
import { matchedVersion, selectorsMatch, type MatchDependencies } from '../webhook-admission/matching.js';
import type { MatchResources, NamedRule } from './types.js';

export interface ResourceMatcher {
  /** The version in which the policy wants to see the object; undefined: it is not concerned. */
  version(request: AdmissionRequest): string | undefined;
  /** Throws `SelectorError`; rejects if the namespace can not be read. */
  selects(request: AdmissionRequest): Promise<boolean>;
}

/** Without rules every resource is meant. */
export function resourceMatcher(
  { resourceRules = [], excludeResourceRules = [], matchPolicy = 'Equivalent', ...selectors }: MatchResources,
  { versionsOf, namespaceLabels }: MatchDependencies,
): ResourceMatcher {
  const selected = {
    namespaceSelector: compileSelector(selectors.namespaceSelector),
    objectSelector: compileSelector(selectors.objectSelector),
  };
  const versionBy = (rules: readonly NamedRule[], request: AdmissionRequest): string | undefined =>
    matchedVersion({ rules: rules.filter((rule) => names(rule, request)), matchPolicy }, request, versionsOf);
  return {
    version(request) {
      if (versionBy(excludeResourceRules, request) !== undefined) return undefined;
      return resourceRules.length === 0 ? request.version : versionBy(resourceRules, request);
    },
    selects: (request) => selectorsMatch(selected, request, namespaceLabels),
  };
}

function names({ resourceNames = [] }: NamedRule, { name }: AdmissionRequest): boolean {
  return resourceNames.length === 0 || resourceNames.includes(name);
}
