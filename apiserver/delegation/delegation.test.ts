import test from 'node:test';
import assert from 'node:assert/strict';
import type { TokenReview } from '../../openapi/generated/types/authentication_v1.js';
import type { SubjectAccessReview } from '../../openapi/generated/types/authorization_v1.js';
import type { New } from '../../openapi/meta.js';
import type { Attributes } from '../authz/authorizer.js';
import { parseAuthenticationConfig } from './authentication-config.js';
import { SubjectAccessReviewAuthorizer } from './subject-access-review.js';
import { TokenReviewVerifier } from './token-review.js';

/** A cluster that answers from a function, and counts how often it was asked. */
function reviews<T extends SubjectAccessReview | TokenReview>(answer: (review: New<T>) => T['status']) {
  const asked: unknown[] = [];
  const reviewer = (review: New<T>): Promise<T> => {
    asked.push(review.spec);
    const status = answer(review);
    // The answer is the review with a status; its metadata is of no interest here.
    return Promise.resolve({ ...review, status } as unknown as T);
  };
  return { asked, reviewer };
}

const attributes: Attributes = {
  user: { name: 'jane', uid: '7', groups: ['ops'], extra: { scopes: ['a'] } },
  verb: 'get',
  isResource: true,
  path: '/apis/kubevirt.io/v1/namespaces/n/virtualmachineinstances/x/vnc/screenshot',
  group: 'kubevirt.io',
  version: 'v1',
  namespace: 'n',
  resource: 'virtualmachineinstances',
  subresource: 'vnc/screenshot',
  name: 'x',
};

test('a token is reviewed once in its time, by however many requests', async () => {
  let now = 0;
  const { asked, reviewer } = reviews<TokenReview>(({ spec }) =>
    spec.token === 'good'
      ? { authenticated: true, user: { username: 'jane', uid: '7', groups: ['ops'], extra: { a: ['b'] } } }
      : { authenticated: false },
  );
  const verifier = new TokenReviewVerifier({ reviewer, ttl: 10_000, now: () => now });
  const jane = {
    user: { name: 'jane', uid: '7', groups: ['ops', 'system:authenticated'], extra: { a: ['b'] } },
  };
  assert.deepEqual(await Promise.all([verifier.verify('good'), verifier.verify('good')]), [jane, jane]);
  assert.deepEqual(verifier.verify('good'), jane, 'kept, and answered at once');
  assert.equal(await verifier.verify('bad'), undefined);
  assert.equal(verifier.verify('bad'), undefined);
  assert.deepEqual(asked, [{ token: 'good' }, { token: 'bad' }]);
  now = 10_000;
  await verifier.verify('good');
  assert.equal(asked.length, 3);
});

test('a cluster that does not answer is a 503, and the next request asks again', async () => {
  let attempts = 0;
  const verifier = new TokenReviewVerifier({
    reviewer: () => {
      attempts++;
      return Promise.reject(new Error('connection refused'));
    },
    ttl: 10_000,
    now: () => 0,
  });
  const refusal = { reason: 'ServiceUnavailable', code: 503, details: { retryAfterSeconds: 1 } };
  await assert.rejects(async () => verifier.verify('any'), refusal);
  assert.equal(attempts, 3, 'one try and two more');
  await assert.rejects(async () => verifier.verify('any'), refusal);
  assert.equal(attempts, 6);
});

test('a question of authorization names everything, deep subresources too, and its answer is kept', async () => {
  let now = 0;
  let status: SubjectAccessReview['status'] = { allowed: true, reason: 'RBAC: by a role' };
  const { asked, reviewer } = reviews<SubjectAccessReview>(() => status);
  const authorizer = new SubjectAccessReviewAuthorizer({
    reviewer,
    allowedTtl: 300_000,
    refusedTtl: 30_000,
    now: () => now,
  });
  assert.deepEqual(await authorizer.authorize(attributes), { effect: 'allow', reason: 'RBAC: by a role' });
  assert.deepEqual(asked, [
    {
      user: 'jane',
      uid: '7',
      groups: ['ops'],
      extra: { scopes: ['a'] },
      resourceAttributes: {
        verb: 'get',
        group: 'kubevirt.io',
        version: 'v1',
        namespace: 'n',
        resource: 'virtualmachineinstances',
        subresource: 'vnc/screenshot',
        name: 'x',
      },
    },
  ]);
  status = { allowed: false, reason: 'no' };
  now = 299_999;
  assert.deepEqual(authorizer.authorize(attributes), { effect: 'allow', reason: 'RBAC: by a role' });
  now = 300_000;
  assert.deepEqual(await authorizer.authorize(attributes), { effect: 'none', reason: 'no' });
  status = { allowed: false, denied: true, reason: 'never' };
  now = 330_000;
  assert.deepEqual(await authorizer.authorize(attributes), { effect: 'deny', reason: 'never' });
  assert.equal(asked.length, 3);
});

test('paths that are no resource are asked as such; endless ones are not kept', async () => {
  const { asked, reviewer } = reviews<SubjectAccessReview>(() => ({ allowed: true }));
  const authorizer = new SubjectAccessReviewAuthorizer({
    reviewer,
    allowedTtl: 1000,
    refusedTtl: 1000,
    now: () => 0,
  });
  const user = { name: 'jane', groups: [], extra: {} };
  await authorizer.authorize({ ...attributes, user, isResource: false, path: '/metrics' });
  assert.deepEqual(asked[0], {
    user: 'jane',
    groups: [],
    nonResourceAttributes: { path: '/metrics', verb: 'get' },
  });
  const long = { ...attributes, isResource: false, path: `/${'x'.repeat(10_000)}` };
  await authorizer.authorize(long);
  await authorizer.authorize(long);
  assert.equal(asked.length, 3);
});

test("kube-apiserver's config map says whom to believe", () => {
  const data = {
    'client-ca-file': 'USERS',
    'requestheader-client-ca-file': 'PROXIES',
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  };
  assert.deepEqual(parseAuthenticationConfig(data), {
    clientCa: 'USERS',
    requestHeader: {
      clientCa: 'PROXIES',
      allowedNames: ['front-proxy-client'],
      usernameHeaders: ['x-remote-user'],
      uidHeaders: ['x-remote-uid'],
      groupHeaders: ['x-remote-group'],
      extraHeaderPrefixes: ['x-remote-extra-'],
    },
  });
  assert.deepEqual(parseAuthenticationConfig({}), { clientCa: undefined, requestHeader: undefined });
  assert.throws(
    () => parseAuthenticationConfig({ ...data, 'requestheader-group-headers': 'X-Remote-Group' }),
    /^Error: requestheader-group-headers must be a JSON list of strings, not X-Remote-Group$/,
  );
});
