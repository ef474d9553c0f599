/** Nobody may hand out rights that he does not have: the check on writes of roles and bindings. */
import type { ClusterRole, PolicyRule, RoleBinding } from '../../../openapi/generated/types/rbac_v1.js';
import type { KubernetesObject } from '../../../openapi/meta.js';
import type { AdmissionPlugin, AdmissionRequest } from '../../admission/interface.js';
import { ApiError } from '../../errors/api-error.js';
import type { UserInfo } from '../../request.js';
import type { Attributes, Authorizer } from '../authorizer.js';
import type { RbacPolicy } from './policy.js';
import { compileRule, ruleAllows, type CompiledRule } from './rule.js';

const rbacGroup = 'rbac.authorization.k8s.io';
const roleResources: ReadonlySet<string> = new Set(['roles', 'clusterroles']);
const bindingResources: ReadonlySet<string> = new Set(['rolebindings', 'clusterrolebindings']);

/**
 * Refuses (Forbidden) a role with rules, or a binding to a role with rules, that its writer does not hold there, unless
 * the writer may `escalate` the role or `bind` it.
 */
export function escalationPlugin(policy: RbacPolicy, authorizer: Authorizer): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    handles: (request) =>
      request.group === rbacGroup &&
      request.operation !== 'DELETE' &&
      (roleResources.has(request.resource) || bindingResources.has(request.resource)),
    validate: async (request) => {
      const wanted = wantedRules(request, policy);
      const missing = uncovered(policy, request.user, request.namespace ?? '', wanted.rules);
      if (missing.length === 0 || (await mayAnyway(authorizer, request, wanted.override))) return [];
      throw new ApiError(
        'Forbidden',
        `${request.resource}.${rbacGroup} "${request.name}" is forbidden: user "${request.user.name}" ` +
          `(groups=${JSON.stringify(request.user.groups)}) is attempting to grant RBAC permissions not currently held:\n` +
          missing.map((rule) => JSON.stringify(rule)).join('\n'),
        { name: request.name, group: rbacGroup, kind: request.resource },
      );
    },
  };
}

interface Wanted {
  readonly rules: readonly PolicyRule[];
  /** The right that makes up for missing rules. */
  readonly override: Pick<Attributes, 'verb' | 'resource' | 'name'>;
}

function wantedRules(request: AdmissionRequest, policy: RbacPolicy): Wanted {
  if (isRole(request)) {
    const unchanged = JSON.stringify(request.oldObject && rulesOf(request.oldObject));
    const rules = request.object === undefined ? [] : rulesOf(request.object);
    const override = { verb: 'escalate', resource: request.resource, name: request.name };
    // Labels and owners of a role may change without holding its rules.
    return { rules: JSON.stringify(rules) === unchanged ? [] : rules, override };
  }
  const binding = request.object as RoleBinding | undefined;
  const ref = binding?.roleRef ?? { kind: 'Role', name: '' };
  return {
    rules: policy.rulesOf(ref, request.namespace ?? '').map((rule) => rule.source),
    override: {
      verb: 'bind',
      resource: ref.kind === 'ClusterRole' ? 'clusterroles' : 'roles',
      name: ref.name,
    },
  };
}

function isRole(request: AdmissionRequest): boolean {
  return roleResources.has(request.resource);
}

/** An aggregated role may gather anything, so it counts as holding everything. */
function rulesOf(object: KubernetesObject): readonly PolicyRule[] {
  const role = object as ClusterRole;
  if (role.aggregationRule === undefined) return role.rules ?? [];
  return [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ];
}

async function mayAnyway(
  authorizer: Authorizer,
  request: AdmissionRequest,
  override: Wanted['override'],
): Promise<boolean> {
  const decision = await authorizer.authorize(
    {
      user: request.user,
      isResource: true,
      path: '',
      group: rbacGroup,
      version: request.version,
      namespace: override.resource === 'clusterroles' ? '' : (request.namespace ?? ''),
      subresource: '',
      ...override,
    },
    () => new AbortController().signal,
  );
  return decision.effect === 'allow';
}

/** The rules, each for one verb and one target, that the user's own rules do not cover. */
export function uncovered(
  policy: RbacPolicy,
  user: UserInfo,
  namespace: string,
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] {
  if (user.groups.includes('system:masters')) return [];
  const own = [...policy.rulesFor(user, namespace)].map(({ rule }) => rule);
  return wanted.flatMap(single).filter((rule) => !own.some((held) => covers(held, rule)));
}

/** Takes a rule apart into rules of one verb and one target each. */
function single(rule: PolicyRule): PolicyRule[] {
  const resources = (rule.apiGroups ?? []).flatMap((group) =>
    (rule.resources ?? []).flatMap((resource) =>
      (rule.resourceNames?.length ? rule.resourceNames : [undefined]).map((name) => ({
        apiGroups: [group],
        resources: [resource],
        ...(name === undefined ? {} : { resourceNames: [name] }),
      })),
    ),
  );
  const urls = (rule.nonResourceURLs ?? []).map((url) => ({ nonResourceURLs: [url] }));
  return rule.verbs.flatMap((verb) => [...resources, ...urls].map((part) => ({ ...part, verbs: [verb] })));
}

/** A `*` that is asked for is covered only by a `*` that is held: then the word matches literally. */
function covers(held: CompiledRule, wanted: PolicyRule): boolean {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = wanted;
  const [url] = nonResourceURLs;
  const verb = verbs[0] ?? '';
  if (url !== undefined) {
    const asked = compileRule({ nonResourceURLs: [url], verbs: [verb] });
    const [prefix] = asked.urlPrefixes;
    const has = held.urls === undefined || held.urls.has(url);
    const wider = held.urlPrefixes.some((own) => (prefix ?? url).startsWith(own));
    return (held.verbs === undefined || held.verbs.has(verb)) && (has || wider);
  }
  const [resource = '', ...deeper] = (resources[0] ?? '').split('/');
  return ruleAllows(held, {
    user: { name: '', groups: [], extra: {} },
    verb,
    isResource: true,
    path: '',
    group: apiGroups[0] ?? '',
    version: '',
    namespace: '',
    resource,
    subresource: deeper.join('/'),
    name: resourceNames[0] ?? '',
  });
}
