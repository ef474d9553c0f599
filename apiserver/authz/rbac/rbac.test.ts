import test from 'node:test';
import assert from 'node:assert/strict';
import type { PolicyRule } from '../../../openapi/generated/types/rbac_v1.js';
import type { ObjectMeta } from '../../../openapi/meta.js';
import type { Attributes } from '../authorizer.js';
import { uncovered } from './escalation.js';
import { RbacPolicy } from './policy.js';
import { RbacAuthorizer } from './rbac-authorizer.js';

const group = 'kubevirt.io';
const apiVersion = 'rbac.authorization.k8s.io/v1';

function metadata(name: string, namespace?: string, labels: Record<string, string> = {}): ObjectMeta {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels,
    uid: name,
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  };
}

function clusterRole(
  policy: RbacPolicy,
  name: string,
  rules: PolicyRule[],
  labels?: Record<string, string>,
): void {
  policy.setClusterRole({
    apiVersion,
    kind: 'ClusterRole',
    metadata: metadata(name, undefined, labels),
    rules,
  });
}

/** One cluster role with the rules, bound to the user in the whole cluster. */
function policyOf(...rules: PolicyRule[]): RbacPolicy {
  const policy = new RbacPolicy();
  clusterRole(policy, 'r', rules);
  policy.setBinding({
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: metadata('b'),
    roleRef: { kind: 'ClusterRole', name: 'r' },
    subjects: [{ kind: 'User', name: 'jane' }],
  });
  return policy;
}

/** `verb group resource/subresource name`, or `verb /path`. */
function ask(question: string, namespace = '', user = 'jane', groups: readonly string[] = []): Attributes {
  const [verb = '', second = '', target = '', name = ''] = question.split(' ');
  const [resource = '', ...subresource] = target.split('/');
  const isResource = !second.startsWith('/');
  return {
    user: { name: user, groups, extra: {} },
    verb,
    isResource,
    path: isResource ? '' : second,
    group: isResource ? second : '',
    version: 'v1',
    namespace,
    resource,
    subresource: subresource.join('/'),
    name,
  };
}

const vms = 'virtualmachines';
const table: readonly (readonly [PolicyRule, string, boolean])[] = [
  [{ apiGroups: [group], resources: [vms], verbs: ['get'] }, `get ${group} ${vms} a`, true],
  [{ apiGroups: [group], resources: [vms], verbs: ['get'] }, `list ${group} ${vms}`, false],
  [{ apiGroups: [group], resources: [vms], verbs: ['*'] }, `watch ${group} ${vms}`, true],
  [{ apiGroups: [''], resources: [vms], verbs: ['get'] }, `get ${group} ${vms}`, false],
  [{ apiGroups: ['*'], resources: [vms], verbs: ['get'] }, `get ${group} ${vms}`, true],
  [{ apiGroups: [group], resources: ['*'], verbs: ['get'] }, `get ${group} ${vms}/status`, true],
  [{ apiGroups: [group], resources: [vms], verbs: ['get'] }, `get ${group} ${vms}/status`, false],
  [{ apiGroups: [group], resources: ['*/status'], verbs: ['get'] }, `get ${group} ${vms}/status`, true],
  [{ apiGroups: [group], resources: ['*/status'], verbs: ['get'] }, `get ${group} ${vms}`, false],
  [
    { apiGroups: [group], resources: [`${vms}/vnc/screenshot`], verbs: ['get'] },
    `get ${group} ${vms}/vnc/screenshot a`,
    true,
  ],
  [
    { apiGroups: [group], resources: [`${vms}/vnc`], verbs: ['get'] },
    `get ${group} ${vms}/vnc/screenshot a`,
    false,
  ],
  [
    { apiGroups: [group], resources: [vms], resourceNames: ['a'], verbs: ['get'] },
    `get ${group} ${vms} a`,
    true,
  ],
  [
    { apiGroups: [group], resources: [vms], resourceNames: ['a'], verbs: ['get'] },
    `get ${group} ${vms} b`,
    false,
  ],
  [
    { apiGroups: [group], resources: [vms], resourceNames: ['a'], verbs: ['list'] },
    `list ${group} ${vms}`,
    false,
  ],
  [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }, 'get /metrics', true],
  [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }, 'get /metrics/x', false],
  [{ nonResourceURLs: ['/api*'], verbs: ['get'] }, 'get /apis/x', true],
  [{ nonResourceURLs: ['*'], verbs: ['get'] }, 'get /anything', true],
  [{ nonResourceURLs: ['*'], verbs: ['*'] }, `get ${group} ${vms}`, false],
  [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }, 'get /metrics', false],
];

test('what a rule allows', () => {
  for (const [rule, question, allowed] of table) {
    const decision = new RbacAuthorizer(policyOf(rule)).authorize(ask(question));
    assert.equal(decision.effect === 'allow', allowed, `${JSON.stringify(rule)} ← ${question}`);
  }
});

test('subjects: users, groups and service accounts, each only as what they are', () => {
  const policy = new RbacPolicy();
  clusterRole(policy, 'r', [{ apiGroups: [group], resources: [vms], verbs: ['get'] }]);
  policy.setBinding({
    apiVersion,
    kind: 'RoleBinding',
    metadata: metadata('b', 'ns'),
    roleRef: { kind: 'ClusterRole', name: 'r' },
    subjects: [
      { kind: 'User', name: 'jane' },
      { kind: 'Group', name: 'ops' },
      { kind: 'ServiceAccount', name: 'sa', namespace: 'other' },
      { kind: 'ServiceAccount', name: 'own' },
    ],
  });
  const authorizer = new RbacAuthorizer(policy);
  const may = (user: string, groups: string[] = [], namespace = 'ns'): boolean =>
    authorizer.authorize(ask(`get ${group} ${vms} a`, namespace, user, groups)).effect === 'allow';
  assert.equal(may('jane'), true);
  assert.equal(may('ops'), false);
  assert.equal(may('x', ['ops']), true);
  assert.equal(may('x', ['jane']), false);
  assert.equal(may('system:serviceaccount:other:sa'), true);
  assert.equal(may('system:serviceaccount:ns:sa'), false);
  assert.equal(may('system:serviceaccount:ns:own'), true);
  assert.equal(may('jane', [], 'elsewhere'), false);
  assert.equal(may('jane', [], ''), false);
});

test('a role of the namespace, replaced and deleted bindings, a role that does not exist', () => {
  const policy = new RbacPolicy();
  const authorizer = new RbacAuthorizer(policy);
  const may = (): boolean => authorizer.authorize(ask(`get ${group} ${vms} a`, 'ns')).effect === 'allow';
  const bind = (name: string, user: string): void => {
    policy.setBinding({
      apiVersion,
      kind: 'RoleBinding',
      metadata: metadata('b', 'ns'),
      roleRef: { kind: 'Role', name },
      subjects: [{ kind: 'User', name: user }],
    });
  };
  bind('absent', 'jane');
  assert.equal(may(), false);
  policy.setRole({
    apiVersion,
    kind: 'Role',
    metadata: metadata('r', 'ns'),
    rules: [{ apiGroups: [group], resources: [vms], verbs: ['get'] }],
  });
  bind('r', 'jane');
  assert.equal(may(), true);
  bind('r', 'bob');
  assert.equal(may(), false);
  bind('r', 'jane');
  policy.deleteRole('ns', 'r');
  assert.equal(may(), false);
  policy.deleteBinding('ns', 'b');
  assert.equal(may(), false);
});

test('an aggregated role is the sum of what it selects now, through circles too', () => {
  const policy = policyOf();
  const label = { 'example.com/aggregate': 'true' };
  const selectors = { clusterRoleSelectors: [{ matchLabels: label }] };
  const aggregated = (name: string, labels: Record<string, string>): void => {
    policy.setClusterRole({
      apiVersion,
      kind: 'ClusterRole',
      metadata: metadata(name, undefined, labels),
      aggregationRule: selectors,
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    });
  };
  aggregated('r', {});
  aggregated('loop', label);
  const authorizer = new RbacAuthorizer(policy);
  const may = (): boolean => authorizer.authorize(ask(`get ${group} ${vms} a`)).effect === 'allow';
  assert.equal(may(), false, 'its own rules are not its own to write');
  clusterRole(policy, 'part', [{ apiGroups: [group], resources: [vms], verbs: ['get'] }], label);
  assert.equal(may(), true);
  policy.deleteClusterRole('part');
  assert.equal(may(), false);
});

test('the reason names binding, role and subject', () => {
  const authorizer = new RbacAuthorizer(policyOf({ apiGroups: [group], resources: [vms], verbs: ['get'] }));
  assert.equal(
    authorizer.authorize(ask(`get ${group} ${vms} a`)).reason,
    'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to User "jane"',
  );
});

test('rules that may be handed on are those that are held', () => {
  const held: PolicyRule[] = [
    { apiGroups: [group], resources: [vms, `${vms}/status`], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['pods'], resourceNames: ['a'], verbs: ['get'] },
    { apiGroups: [''], resources: ['*/status'], verbs: ['get'] },
    { nonResourceURLs: ['/api/*'], verbs: ['get'] },
  ];
  const policy = policyOf(...held);
  const jane = { name: 'jane', groups: [], extra: {} };
  const missing = (rule: PolicyRule): number => uncovered(policy, jane, '', [rule]).length;
  assert.equal(missing({ apiGroups: [group], resources: [vms], verbs: ['get'] }), 0);
  assert.equal(missing({ apiGroups: [group], resources: [vms], resourceNames: ['x'], verbs: ['get'] }), 0);
  assert.equal(missing({ apiGroups: [group], resources: [vms], verbs: ['get', 'delete', 'patch'] }), 2);
  assert.equal(missing({ apiGroups: [group, ''], resources: [vms], verbs: ['get'] }), 1);
  assert.equal(missing({ apiGroups: [group], resources: ['*'], verbs: ['get'] }), 1);
  assert.equal(missing({ apiGroups: ['*'], resources: [vms], verbs: ['get'] }), 1);
  assert.equal(missing({ apiGroups: [group], resources: [vms], verbs: ['*'] }), 1);
  assert.equal(missing({ apiGroups: [''], resources: ['pods'], verbs: ['get'] }), 1);
  assert.equal(missing({ apiGroups: [''], resources: ['pods'], resourceNames: ['a'], verbs: ['get'] }), 0);
  assert.equal(missing({ apiGroups: [''], resources: ['nodes/status'], verbs: ['get'] }), 0);
  assert.equal(missing({ nonResourceURLs: ['/api/v1', '/api/x*'], verbs: ['get'] }), 0);
  assert.equal(missing({ nonResourceURLs: ['/ap*'], verbs: ['get'] }), 1);
  assert.equal(missing({ nonResourceURLs: ['*'], verbs: ['get'] }), 1);
});
