import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import test from 'node:test';
import type { KubernetesObject } from '../../openapi/meta.js';
import { serviceAccountIssuer, ServiceAccountTokens } from './service-account-tokens.js';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const own = [serviceAccountIssuer];
const subject = { namespace: 'n', serviceAccount: { name: 'robot', uid: 'u' } };

interface World {
  readonly objects: Map<string, string>;
  now: number;
}

function world(): { state: World; tokens: ServiceAccountTokens } {
  const state: World = { objects: new Map([['serviceaccounts/n/robot', 'u']]), now: 1_700_000_000_000 };
  const tokens = new ServiceAccountTokens({
    key: privateKey,
    now: () => state.now,
    get: (resource, namespace, name) => {
      const uid = state.objects.get(`${resource}/${namespace}/${name}`);
      // Nothing else of it is looked at.
      const object = uid === undefined ? undefined : ({ metadata: { uid } } as KubernetesObject);
      return Promise.resolve(object);
    },
  });
  return { state, tokens };
}

test('a token is of its account until it ends', async () => {
  const { state, tokens } = world();
  const { token, expires } = tokens.issue(subject, own, 600);
  assert.equal(expires, 1_700_000_600);
  const found = await tokens.verify(token);
  assert.equal(found?.user.name, 'system:serviceaccount:n:robot');
  assert.equal(found.user.uid, 'u');
  assert.deepEqual(found.user.groups, [
    'system:serviceaccounts',
    'system:serviceaccounts:n',
    'system:authenticated',
  ]);
  state.now += 599_000;
  assert.ok(await tokens.verify(token));
  state.now += 1000;
  assert.equal(await tokens.verify(token), undefined);
});

test('it ends with its account, and with the object that it is bound to', async () => {
  const { state, tokens } = world();
  const bound = { resource: 'pods', name: 'p', uid: 'pod-uid' } as const;
  const { token } = tokens.issue({ ...subject, bound }, own, 600);
  assert.equal(await tokens.verify(token), undefined);
  state.objects.set('pods/n/p', 'pod-uid');
  const { extra } = (await tokens.verify(token))?.user ?? {};
  assert.deepEqual(extra?.['authentication.kubernetes.io/pod-name'], ['p']);
  state.objects.set('serviceaccounts/n/robot', 'another of the name');
  assert.equal(await tokens.verify(token), undefined);
});

test('what is for others, of others, or changed is nobody', async () => {
  const { state, tokens } = world();
  assert.equal(await tokens.verify(tokens.issue(subject, ['vault'], 600).token), undefined);
  const { token } = tokens.issue(subject, own, 600);
  const [header = '', payload = '', signature = ''] = token.split('.');
  const foreign = new ServiceAccountTokens({
    key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    now: () => state.now,
    get: () => Promise.resolve(undefined),
  });
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  const root = Buffer.from(payload, 'base64url').toString().replace('robot', 'admin');
  const changed = [
    foreign.issue(subject, own, 600).token,
    `${none}.${payload}.`,
    `${header}.${Buffer.from(root).toString('base64url')}.${signature}`,
    `${header}.${payload}.`,
    `${header}.${payload}`,
    `${token}.${signature}`,
    '',
    'a.b.c',
  ];
  for (const text of changed) assert.equal(await tokens.verify(text), undefined, text);
});
