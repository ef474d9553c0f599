import test from 'node:test';
import assert from 'node:assert/strict';
import type { ClusterRole, ClusterRoleBinding } from '../../openapi/generated/types/rbac_v1.js';
import { startNativeServer } from '../../test/apiserver/native-server.js';
import { requestOf, type Answer } from '../../test/apiserver/test-server.js';

type Review = (
  plural: string,
  kind: string,
  spec: unknown,
  token?: string,
  namespace?: string,
) => Promise<Answer>;

async function serving(t: test.TestContext): Promise<Review> {
  const server = await startNativeServer();
  t.after(() => server.close());
  const request = requestOf({ port: server.port, ca: server.authority.cert });
  const rbac = 'rbac.authorization.k8s.io';
  const actor = { user: { name: 'test', groups: ['system:masters'], extra: {} } };
  await server.registry.create<ClusterRole>(
    { group: rbac, resource: 'clusterroles' },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'reviewer' },
      rules: [
        {
          apiGroups: ['authorization.k8s.io', 'authentication.k8s.io'],
          resources: ['*'],
          verbs: ['create'],
        },
        { apiGroups: ['kubevirt.io'], resources: ['virtualmachines'], verbs: ['get'] },
        { nonResourceURLs: ['/metrics'], verbs: ['get'] },
      ],
    },
    actor,
  );
  await server.registry.create<ClusterRoleBinding>(
    { group: rbac, resource: 'clusterrolebindings' },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'reviewer' },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'reviewer' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: 'bob' }],
    },
    actor,
  );
  return (plural, kind, spec, token = 'bob', namespace) => {
    const group =
      kind.startsWith('Token') || kind === 'SelfSubjectReview' ? 'authentication' : 'authorization';
    const scope = namespace === undefined ? '' : `/namespaces/${namespace}`;
    return request('POST', `/apis/${group}.k8s.io/v1${scope}/${plural}`, {
      token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        apiVersion: `${group}.k8s.io/v1`,
        kind,
        metadata: { creationTimestamp: null },
        ...(spec === undefined ? {} : { spec }),
        status: { allowed: true, authenticated: true },
      }),
    });
  };
}

const status = (answer: Answer): Record<string, unknown> => {
  assert.equal(answer.status, 201, answer.text);
  return answer.json()['status'] as Record<string, unknown>;
};
const about = (verb: string, resource: string): object => ({
  resourceAttributes: { group: 'kubevirt.io', verb, resource, namespace: 'x' },
});

test('may I? may they?', async (t) => {
  const review = await serving(t);
  const mine = await review(
    'selfsubjectaccessreviews',
    'SelfSubjectAccessReview',
    about('get', 'virtualmachines'),
  );
  assert.deepEqual(status(mine), {
    allowed: true,
    reason: 'RBAC: allowed by ClusterRoleBinding "reviewer" of ClusterRole "reviewer" to User "bob"',
  });
  const no = await review(
    'selfsubjectaccessreviews',
    'SelfSubjectAccessReview',
    about('delete', 'virtualmachines'),
  );
  assert.deepEqual(status(no), { allowed: false });
  const path = { nonResourceAttributes: { verb: 'get', path: '/metrics' } };
  assert.equal(
    status(await review('selfsubjectaccessreviews', 'SelfSubjectAccessReview', path))['allowed'],
    true,
  );
  const theirs = { ...about('delete', 'virtualmachines'), user: 'eve', groups: ['system:masters'] };
  assert.equal(status(await review('subjectaccessreviews', 'SubjectAccessReview', theirs))['allowed'], true);
  const local = await review(
    'localsubjectaccessreviews',
    'LocalSubjectAccessReview',
    { ...theirs, groups: [] },
    'bob',
    'x',
  );
  assert.equal(status(local)['allowed'], false);
});

test('what may I?', async (t) => {
  const review = await serving(t);
  const answer = status(
    await review('selfsubjectrulesreviews', 'SelfSubjectRulesReview', { namespace: 'x' }),
  );
  assert.equal(answer['incomplete'], false);
  assert.deepEqual(answer['nonResourceRules'], [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }]);
  assert.deepEqual((answer['resourceRules'] as object[])[1], {
    verbs: ['get'],
    apiGroups: ['kubevirt.io'],
    resources: ['virtualmachines'],
  });
});

test('who am I? whose token is this?', async (t) => {
  const review = await serving(t);
  const me = status(await review('selfsubjectreviews', 'SelfSubjectReview', undefined));
  assert.deepEqual(me['userInfo'], {
    username: 'bob',
    uid: '2',
    groups: ['devs', 'ops', 'system:authenticated'],
  });
  const known = await review('tokenreviews', 'TokenReview', { token: 'eve' });
  assert.deepEqual(status(known), {
    authenticated: true,
    user: { username: 'eve', uid: '3', groups: ['system:authenticated'] },
  });
  assert.doesNotMatch(known.text, /"token":"eve"/);
  assert.equal(
    status(await review('tokenreviews', 'TokenReview', { token: 'nope' }))['authenticated'],
    false,
  );
});

test('questions that are none', async (t) => {
  const review = await serving(t);
  const self = (spec: unknown, kind = 'SelfSubjectAccessReview'): Promise<Answer> =>
    review('selfsubjectaccessreviews', kind, spec);
  assert.deepEqual((await self({})).json().code, 422);
  assert.deepEqual((await self({ resourceAttributes: 'x' })).json().code, 422);
  assert.deepEqual((await self(undefined)).json().code, 422);
  assert.deepEqual((await self({}, 'SubjectAccessReview')).json().code, 400);
  assert.equal(
    (await review('subjectaccessreviews', 'SubjectAccessReview', about('get', 'pods'))).status,
    422,
  );
  const elsewhere = { ...about('get', 'pods'), user: 'x' };
  assert.equal(
    (await review('localsubjectaccessreviews', 'LocalSubjectAccessReview', elsewhere, 'bob', 'y')).status,
    400,
  );
  assert.equal(
    (await review('selfsubjectaccessreviews', 'SelfSubjectAccessReview', about('get', 'x'), 'eve')).status,
    403,
  );
});

test('nobody hands out rights that he does not hold', async (t) => {
  const server = await startNativeServer();
  t.after(() => server.close());
  const request = requestOf({ port: server.port, ca: server.authority.cert });
  const post = (token: string, resource: string, object: Record<string, unknown>): Promise<Answer> =>
    request('POST', `/apis/rbac.authorization.k8s.io/v1/${resource}`, {
      token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ apiVersion: 'rbac.authorization.k8s.io/v1', ...object }),
    });
  const role = (name: string, rules: object[]): Record<string, unknown> => ({
    kind: 'ClusterRole',
    metadata: { name },
    rules,
  });
  const binding = (name: string, roleName: string, user: string): Record<string, unknown> => ({
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: roleName },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  });
  const write = { apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['create', 'update'] };
  const pods = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
  await post('admin', 'clusterroles', role('rbac-writer', [write, pods]));
  await post(
    'admin',
    'clusterroles',
    role('everything', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]),
  );
  assert.equal(
    (await post('admin', 'clusterrolebindings', binding('bob', 'rbac-writer', 'bob'))).status,
    201,
  );
  assert.equal((await post('bob', 'clusterroles', role('own', [pods]))).status, 201);
  const more = await post('bob', 'clusterroles', role('more', [{ ...pods, verbs: ['get', 'delete'] }]));
  assert.equal(more.status, 403);
  assert.match(
    more.json().message ?? '',
    /attempting to grant RBAC permissions not currently held:\n.*"delete"/,
  );
  assert.equal((await post('bob', 'clusterrolebindings', binding('mine', 'own', 'eve'))).status, 201);
  assert.equal((await post('bob', 'clusterrolebindings', binding('all', 'everything', 'bob'))).status, 403);
});
