/** Which requests the audit log tells of, and how much: Kubernetes' audit policy (audit.k8s.io/v1). */
import { parse } from 'yaml';
import type { RequestInfo, UserInfo } from '../request.js';
import { authorizedSubresource } from '../request-info.js';

export const auditLevels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof auditLevels)[number];
export const auditStages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type AuditStage = (typeof auditStages)[number];

interface ResourceSelector {
  readonly group: string;
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
}

interface Rule {
  readonly level: AuditLevel;
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly ResourceSelector[];
  readonly namespaces: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly omitStages: ReadonlySet<AuditStage>;
}

export interface Verdict {
  readonly level: AuditLevel;
  readonly omitStages: ReadonlySet<AuditStage>;
}

const silent: Verdict = { level: 'None', omitStages: new Set() };

export class AuditPolicy {
  constructor(private readonly rules: readonly Rule[]) {}

  /** The first rule that matches decides; none: nothing is logged. */
  evaluate(user: UserInfo, info: RequestInfo): Verdict {
    return this.rules.find((rule) => matches(rule, user, info)) ?? silent;
  }
}

function matches(rule: Rule, user: UserInfo, info: RequestInfo): boolean {
  const verb = info.isResource ? info.verb : info.method.toLowerCase();
  return (
    (rule.users.length === 0 || rule.users.includes(user.name)) &&
    (rule.userGroups.length === 0 || user.groups.some((group) => rule.userGroups.includes(group))) &&
    (rule.verbs.length === 0 || rule.verbs.includes('*') || rule.verbs.includes(verb)) &&
    matchesTarget(rule, info)
  );
}

function matchesTarget(rule: Rule, info: RequestInfo): boolean {
  if (!info.isResource) {
    if (rule.resources.length > 0 || rule.namespaces.length > 0) return false;
    return (
      rule.nonResourceURLs.length === 0 ||
      rule.nonResourceURLs.some((url) =>
        url.endsWith('*') ? info.path.startsWith(url.slice(0, -1)) : info.path === url,
      )
    );
  }
  if (rule.nonResourceURLs.length > 0) return false;
  return (
    (rule.namespaces.length === 0 || rule.namespaces.includes(info.namespace ?? '')) &&
    (rule.resources.length === 0 || rule.resources.some((selector) => selectorMatches(selector, info)))
  );
}

function selectorMatches({ group, resources, resourceNames }: ResourceSelector, info: RequestInfo): boolean {
  if (group !== info.group && group !== '*') return false;
  if (resourceNames.length > 0 && !resourceNames.includes(info.name ?? '')) return false;
  const subresource = authorizedSubresource(info);
  const full = subresource === '' ? info.resource : `${info.resource}/${subresource}`;
  return (
    resources.length === 0 ||
    resources.some(
      (pattern) =>
        pattern === '*' ||
        pattern === full ||
        (subresource !== '' && (pattern === `${info.resource}/*` || pattern === `*/${subresource}`)),
    )
  );
}

/** @throws an Error that names the file and the field at fault */
export function parseAuditPolicy(text: string, file: string): AuditPolicy {
  const fail = (why: string): never => {
    throw new Error(`${file}: ${why}`);
  };
  const policy = record(parse(text)) ?? fail('is not an audit policy');
  if (policy.kind !== 'Policy' || policy.apiVersion !== 'audit.k8s.io/v1') {
    fail('must have kind Policy and apiVersion audit.k8s.io/v1');
  }
  const { rules } = policy;
  if (!Array.isArray(rules) || rules.length === 0) fail('rules: at least one is needed');
  const omitted = stages(policy.omitStages, 'omitStages', fail);
  return new AuditPolicy(
    (rules as readonly unknown[]).map((rule, index) => parseRule(rule, `rules[${index}]`, omitted, fail)),
  );
}

type Fail = (why: string) => never;

function parseRule(value: unknown, at: string, omitted: readonly AuditStage[], fail: Fail): Rule {
  const rule = record(value) ?? fail(`${at}: is not an object`);
  const level =
    auditLevels.find((known) => known === rule.level) ??
    fail(`${at}.level: must be one of ${auditLevels.join(', ')}`);
  const list = (name: string): readonly string[] => strings(rule[name], `${at}.${name}`, fail);
  const resources = rule.resources ?? [];
  if (!Array.isArray(resources)) fail(`${at}.resources: must be a list`);
  return {
    level,
    users: list('users'),
    userGroups: list('userGroups'),
    verbs: list('verbs'),
    namespaces: list('namespaces'),
    nonResourceURLs: list('nonResourceURLs'),
    resources: (resources as readonly unknown[]).map((entry, index) => {
      const selector = record(entry) ?? fail(`${at}.resources[${index}]: is not an object`);
      return {
        group: typeof selector.group === 'string' ? selector.group : '',
        resources: strings(selector.resources, `${at}.resources[${index}].resources`, fail),
        resourceNames: strings(selector.resourceNames, `${at}.resources[${index}].resourceNames`, fail),
      };
    }),
    omitStages: new Set([...omitted, ...stages(rule.omitStages, `${at}.omitStages`, fail)]),
  };
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

function strings(value: unknown, at: string, fail: Fail): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    return fail(`${at}: must be a list of strings`);
  }
  return value;
}

function stages(value: unknown, at: string, fail: Fail): readonly AuditStage[] {
  return strings(value, at, fail).map(
    (name) =>
      auditStages.find((stage) => stage === name) ??
      fail(`${at}: "${name}" is not one of ${auditStages.join(', ')}`),
  );
}
