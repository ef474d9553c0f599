/** Which webhooks a write concerns, and in which version they want to see it. */
import type { KubernetesObject } from '../../openapi/meta.js';
import type { Labels } from '../../openapi/selectors.js';
import type { AdmissionRequest } from '../admission/interface.js';
import type { Rule, Webhook } from './configuration.js';

export interface MatchDependencies {
  /** The versions in which a resource is served. They differ in nothing but their name. */
  readonly versionsOf: (group: string, resource: string) => readonly string[];
  /** Rejects if the namespace is not there. */
  readonly namespaceLabels: (name: string) => Promise<Labels>;
}

type Target = Pick<AdmissionRequest, 'operation' | 'group' | 'version' | 'resource' | 'subresource'> & {
  readonly namespace: string | undefined;
};

const includes = (values: readonly string[] | undefined, value: string): boolean =>
  values?.some((each) => each === '*' || each === value) === true;

export function ruleMatches(rule: Rule, target: Target): boolean {
  return (
    includes(rule.operations, target.operation) &&
    includes(rule.apiGroups, target.group) &&
    includes(rule.apiVersions, target.version) &&
    scopeMatches(rule.scope, target.namespace) &&
    rule.resources?.some((pattern) => resourceMatches(pattern, target)) === true
  );
}

function scopeMatches(scope: Rule['scope'], namespace: string | undefined): boolean {
  return (
    scope === undefined || scope === '*' || scope === (namespace === undefined ? 'Cluster' : 'Namespaced')
  );
}

/** A pattern without a slash means the resource itself and none of its subresources; behind it `*` means all of these. */
function resourceMatches(pattern: string, { resource, subresource = '' }: Target): boolean {
  const slash = pattern.indexOf('/');
  const wanted = slash === -1 ? pattern : pattern.slice(0, slash);
  const wantedSubresource = slash === -1 ? '' : pattern.slice(slash + 1);
  return (
    (wanted === '*' || wanted === resource) &&
    (wantedSubresource === '*' || wantedSubresource === subresource)
  );
}

/** The version in which a rule of the webhook names what the request is about; undefined if none does. */
export function matchedVersion(
  { rules, matchPolicy }: Pick<Webhook, 'rules' | 'matchPolicy'>,
  request: AdmissionRequest,
  versionsOf: MatchDependencies['versionsOf'],
): string | undefined {
  if (rules.some((rule) => ruleMatches(rule, request))) return request.version;
  if (matchPolicy === 'Exact') return undefined;
  const versions = versionsOf(request.group, request.resource);
  for (const rule of rules) {
    const version = versions.find((each) => ruleMatches(rule, { ...request, version: each }));
    if (version !== undefined) return version;
  }
  return undefined;
}

/** Whether a rule of any of them names what the request is about. */
export function anyMatches(
  webhooks: readonly Webhook[],
  request: AdmissionRequest,
  { versionsOf }: MatchDependencies,
): boolean {
  return webhooks.some((webhook) => matchedVersion(webhook, request, versionsOf) !== undefined);
}

/** Whether the webhook wants objects with these labels in this namespace. */
export async function selectorsMatch(
  webhook: Pick<Webhook, 'namespaceSelector' | 'objectSelector'>,
  { namespace, object, oldObject }: AdmissionRequest,
  namespaceLabels: MatchDependencies['namespaceLabels'],
): Promise<boolean> {
  const [namespaceSelector, objectSelector] = [webhook.namespaceSelector(), webhook.objectSelector()];
  const selected = (each: KubernetesObject | undefined): boolean =>
    each !== undefined && objectSelector.matches(each.metadata.labels);
  if (!objectSelector.everything && !selected(object) && !selected(oldObject)) return false;
  if (namespaceSelector.everything || namespace === undefined) return true;
  return namespaceSelector.matches(await namespaceLabels(namespace));
}
