/** One policy rule, compiled for asking. */
import type { PolicyRule } from '../../../openapi/generated/types/rbac_v1.js';
import type { Attributes } from '../authorizer.js';

/** `undefined` stands for `*`. */
type Words = ReadonlySet<string> | undefined;

export interface CompiledRule {
  readonly source: PolicyRule;
  readonly verbs: Words;
  readonly groups: Words;
  readonly resources: Words;
  /** Subresources of every resource: from `*` + `/status`. */
  readonly subresources: ReadonlySet<string>;
  /** Empty: any name, also none. */
  readonly names: ReadonlySet<string>;
  readonly urls: Words;
  /** From URLs that end with `*`. */
  readonly urlPrefixes: readonly string[];
}

export function compileRule(rule: PolicyRule): CompiledRule {
  const resources = rule.resources ?? [];
  const urls = rule.nonResourceURLs ?? [];
  const all = (words: readonly string[]): Words => (words.includes('*') ? undefined : new Set(words));
  return {
    source: rule,
    verbs: all(rule.verbs),
    groups: all(rule.apiGroups ?? []),
    resources: all(resources),
    subresources: new Set(
      resources.filter((resource) => resource.startsWith('*/')).map((resource) => resource.slice(2)),
    ),
    names: new Set(rule.resourceNames ?? []),
    urls: all(urls),
    urlPrefixes: urls.filter((url) => url.endsWith('*')).map((url) => url.slice(0, -1)),
  };
}

const has = (words: Words, word: string): boolean => words === undefined || words.has(word);

export function ruleAllows(rule: CompiledRule, attributes: Attributes): boolean {
  if (!has(rule.verbs, attributes.verb)) return false;
  if (!attributes.isResource) return matchesUrl(rule, attributes.path);
  const { resource, subresource, name } = attributes;
  if (!has(rule.groups, attributes.group)) return false;
  if (rule.names.size > 0 && !rule.names.has(name)) return false;
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  return has(rule.resources, full) || (subresource !== '' && rule.subresources.has(subresource));
}

function matchesUrl(rule: CompiledRule, path: string): boolean {
  return has(rule.urls, path) || rule.urlPrefixes.some((prefix) => path.startsWith(prefix));
}
