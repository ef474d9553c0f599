/** Strategic merge patches of core kinds over HTTP, as kubectl sends them for every kind that it has compiled in. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { ConfigMap, Pod } from '../../openapi/generated/types/core_v1.js';
import { asStatus, machine, machines, startWithNamespace } from '../registry/testing/objects.js';

const headers = { 'content-type': 'application/strategic-merge-patch+json' };
const configMaps = '/api/v1/namespaces/n/configmaps';
const pods = '/api/v1/namespaces/n/pods';
const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: '1', b: '1' } };
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', finalizers: ['example.com/a'] },
  spec: {
    containers: [
      { name: 'a', image: '1', env: [{ name: 'X', value: 'y' }] },
      { name: 'b', image: '1' },
    ],
  },
};

test('a strategic merge patch changes a config map, and names its manager', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('POST', configMaps, { body: settings });
  const body = { data: { a: '2', b: null } };
  const answer = await request('PATCH', `${configMaps}/c?fieldManager=me`, { body, headers });
  assert.equal(answer.status, 200);
  const { data, metadata } = answer.body as ConfigMap;
  assert.deepEqual(data, { a: '2' });
  assert.ok(metadata.managedFields?.some(({ manager }) => manager === 'me'));
  const again = await request('PATCH', `${configMaps}/c?fieldManager=me`, { body, headers });
  assert.equal((again.body as ConfigMap).metadata.resourceVersion, metadata.resourceVersion);
});

test('a strategic merge patch changes one container of a pod, and its status', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('POST', pods, { body: pod });
  const body = {
    metadata: { finalizers: ['example.com/b'] },
    spec: { containers: [{ name: 'b', image: '2' }] },
  };
  const { metadata, spec } = (await request('PATCH', `${pods}/p`, { body, headers })).body as Pod;
  // New items come first, as in Kubernetes.
  assert.deepEqual(metadata.finalizers, ['example.com/b', 'example.com/a']);
  assert.deepEqual(
    spec?.containers.map(({ name, image, env }) => ({ name, image, env: env?.length })),
    [
      { name: 'a', image: '1', env: 1 },
      { name: 'b', image: '2', env: undefined },
    ],
  );
  const condition = (type: string, status: string): object => ({
    status: { conditions: [{ type, status }] },
  });
  for (const change of [
    condition('Ready', 'False'),
    condition('Initialized', 'True'),
    condition('Ready', 'True'),
  ])
    assert.equal((await request('PATCH', `${pods}/p/status`, { body: change, headers })).status, 200);
  const { status } = (await request('GET', `${pods}/p`)).body as Pod;
  assert.deepEqual(status?.conditions?.map((held) => `${held.type}=${held.status}`).sort(), [
    'Initialized=True',
    'Ready=True',
  ]);
});

test('a strategic merge patch without meaning is refused, and says where', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('POST', pods, { body: pod });
  const refused = async (body: unknown, message: RegExp): Promise<void> => {
    const answer = await request('PATCH', `${pods}/p`, { body, headers });
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.match(asStatus(answer).message ?? '', message);
  };
  await refused({ spec: { containers: [{ image: '2' }] } }, /spec\.containers\[0\]: .* merge key name/);
  await refused({ spec: { $patch: 'copy' } }, /spec: \$patch must be/);
  await refused([], /a strategic merge patch is an object/);
  await refused('{', /error decoding patch/);
});

test('kinds that clients do not have compiled in take no strategic merge patch', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  const body = { metadata: { labels: { a: 'b' } } };
  for (const path of [`${machines}/a`, `${machines}/a/status`]) {
    const answer = await request('PATCH', path, { body, headers });
    assert.equal(answer.status, 415, path);
    assert.doesNotMatch(asStatus(answer).message ?? '', /strategic/);
  }
  await request('POST', configMaps, { body: settings });
  const unknown = { body, headers: { 'content-type': 'application/json' } };
  const answer = await request('PATCH', `${configMaps}/c`, unknown);
  assert.equal(answer.status, 415);
  assert.match(asStatus(answer).message ?? '', /application\/strategic-merge-patch\+json/);
});
