/** Roles and bindings, indexed so that one request looks only at what is bound to its user. */
import type {
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
  RoleRef,
  Subject,
} from '../../../openapi/generated/types/rbac_v1.js';
import type { LabelSelector } from '../../../openapi/meta.js';
import type { UserInfo } from '../../request.js';
import { compileRule, type CompiledRule } from './rule.js';

/** A binding, as far as one of its subjects is concerned. */
interface Grant {
  readonly bindingKind: 'ClusterRoleBinding' | 'RoleBinding';
  readonly bindingName: string;
  readonly roleRef: RoleRef;
  readonly subject: Subject;
  /** '' for the whole cluster. */
  readonly namespace: string;
}

/** Subject key → binding → grant. */
type GrantIndex = Map<string, Map<string, Grant>>;

export interface GrantedRule {
  readonly grant: Grant;
  readonly rule: CompiledRule;
}

export class RbacPolicy {
  readonly #clusterRoles = new Map<string, { role: ClusterRole; rules: readonly CompiledRule[] }>();
  readonly #roles = new Map<string, readonly CompiledRule[]>();
  /** By namespace; '' for the whole cluster. */
  readonly #grants = new Map<string, GrantIndex>();
  /** Which subject keys a binding is indexed under. */
  readonly #indexed = new Map<string, readonly string[]>();
  /** Rules of aggregated roles; emptied whenever a cluster role changes. */
  readonly #aggregated = new Map<string, readonly CompiledRule[]>();

  setClusterRole(role: ClusterRole): void {
    this.#aggregated.clear();
    this.#clusterRoles.set(role.metadata.name, { role, rules: (role.rules ?? []).map(compileRule) });
  }

  deleteClusterRole(name: string): void {
    this.#aggregated.clear();
    this.#clusterRoles.delete(name);
  }

  setRole(role: Role): void {
    const { namespace = '', name } = role.metadata;
    this.#roles.set(`${namespace}/${name}`, (role.rules ?? []).map(compileRule));
  }

  deleteRole(namespace: string, name: string): void {
    this.#roles.delete(`${namespace}/${name}`);
  }

  setBinding(binding: ClusterRoleBinding | RoleBinding): void {
    const { namespace = '', name } = binding.metadata;
    this.deleteBinding(namespace, name);
    let index = this.#grants.get(namespace);
    if (index === undefined) this.#grants.set(namespace, (index = new Map<string, Map<string, Grant>>()));
    const keys: string[] = [];
    for (const subject of binding.subjects ?? []) {
      const key = subjectKey(subject, namespace);
      if (key === undefined) continue;
      keys.push(key);
      let grants = index.get(key);
      if (grants === undefined) index.set(key, (grants = new Map<string, Grant>()));
      grants.set(name, {
        bindingKind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
        bindingName: name,
        roleRef: binding.roleRef,
        subject,
        namespace,
      });
    }
    this.#indexed.set(`${namespace}/${name}`, keys);
  }

  deleteBinding(namespace: string, name: string): void {
    const id = `${namespace}/${name}`;
    const index = this.#grants.get(namespace);
    for (const key of this.#indexed.get(id) ?? []) {
      const grants = index?.get(key);
      grants?.delete(name);
      if (grants?.size === 0) index?.delete(key);
    }
    if (index?.size === 0) this.#grants.delete(namespace);
    this.#indexed.delete(id);
  }

  clear(): void {
    this.#clusterRoles.clear();
    this.#roles.clear();
    this.#grants.clear();
    this.#indexed.clear();
    this.#aggregated.clear();
  }

  /** Every rule that holds for the user: of the whole cluster, then of the namespace ('' for none). */
  *rulesFor(user: UserInfo, namespace: string): Generator<GrantedRule> {
    const keys = [`User:${user.name}`, ...user.groups.map((group) => `Group:${group}`)];
    const scopes = namespace === '' ? [''] : ['', namespace];
    for (const scope of scopes) {
      const index = this.#grants.get(scope);
      if (index === undefined) continue;
      for (const key of keys) {
        for (const grant of index.get(key)?.values() ?? []) {
          for (const rule of this.rulesOf(grant.roleRef, scope)) yield { grant, rule };
        }
      }
    }
  }

  /** Rules of a role, aggregated ones included; none if the role does not exist. */
  rulesOf(ref: RoleRef, namespace: string): readonly CompiledRule[] {
    if (ref.kind === 'ClusterRole') return this.#clusterRoleRules(ref.name);
    return this.#roles.get(`${namespace}/${ref.name}`) ?? [];
  }

  #clusterRoleRules(name: string): readonly CompiledRule[] {
    const found = this.#clusterRoles.get(name);
    if (found === undefined) return [];
    if (found.role.aggregationRule === undefined) return found.rules;
    let rules = this.#aggregated.get(name);
    if (rules === undefined) {
      rules = this.#aggregate(found.role, new Set([name]));
      this.#aggregated.set(name, rules);
    }
    return rules;
  }

  /** Aggregated roles may select other aggregated roles; `seen` breaks circles. */
  #aggregate(role: ClusterRole, seen: Set<string>): readonly CompiledRule[] {
    const selectors = role.aggregationRule?.clusterRoleSelectors ?? [];
    const rules: CompiledRule[] = [];
    for (const [name, member] of this.#clusterRoles) {
      const labels = member.role.metadata.labels ?? {};
      if (seen.has(name) || !selectors.some((selector) => selects(selector, labels))) continue;
      seen.add(name);
      rules.push(
        ...(member.role.aggregationRule === undefined ? member.rules : this.#aggregate(member.role, seen)),
      );
    }
    return rules;
  }
}

function subjectKey(subject: Subject, bindingNamespace: string): string | undefined {
  switch (subject.kind) {
    case 'User':
    case 'Group':
      return `${subject.kind}:${subject.name}`;
    case 'ServiceAccount': {
      const namespace = subject.namespace ?? bindingNamespace;
      return namespace === '' ? undefined : `User:system:serviceaccount:${namespace}:${subject.name}`;
    }
    default:
      return undefined;
  }
}

/** An empty selector selects everything. */
function selects(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const exact = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return (
    exact &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      const value = labels[key];
      switch (operator) {
        case 'In':
          return value !== undefined && values.includes(value);
        case 'NotIn':
          return value === undefined || !values.includes(value);
        case 'Exists':
          return value !== undefined;
        case 'DoesNotExist':
          return value === undefined;
      }
    })
  );
}
