import assert from 'node:assert/strict';
import test from 'node:test';
import type { Namespace, Pod, Secret } from '../../openapi/generated/types/core_v1.js';
import type { Status } from '../../openapi/meta.js';
import { startRegistry, type Fixture } from '../registry/testing/fixture.js';

const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } };

async function start(t: test.TestContext): Promise<Fixture> {
  const fixture = await startRegistry();
  t.after(() => fixture.close());
  await fixture.request('POST', '/api/v1/namespaces', { body: namespace });
  return fixture;
}

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i' }] },
};
const pods = '/api/v1/namespaces/n/pods';
const binding = {
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name: 'p' },
  target: { kind: 'Node', name: 'node-1' },
};
const mergePatch = { 'content-type': 'application/merge-patch+json' };

test('a namespace goes when its contents are gone and it is finalized', async (t) => {
  const { request } = await start(t);
  const created = (await request('GET', '/api/v1/namespaces/n')).body as Namespace;
  assert.deepEqual(created.spec, { finalizers: ['kubernetes'] });
  assert.equal(created.status?.phase, 'Active');
  const deleted = await request('DELETE', '/api/v1/namespaces/n');
  assert.equal(deleted.status, 200);
  const terminating = deleted.body as Namespace;
  assert.equal(terminating.status?.phase, 'Terminating');
  assert.ok(terminating.metadata.deletionTimestamp);

  const refused = await request('POST', pods, { body: pod });
  assert.equal(refused.status, 403);
  assert.deepEqual((refused.body as Status).details?.causes?.[0]?.reason, 'NamespaceTerminating');

  const finalized = await request('PUT', '/api/v1/namespaces/n/finalize', {
    body: { ...terminating, spec: { finalizers: [] } },
  });
  assert.equal(finalized.status, 200);
  assert.equal((await request('GET', '/api/v1/namespaces/n')).status, 404);
});

test('an update can not take the finalizer of a namespace away', async (t) => {
  const { request } = await start(t);
  const patched = await request('PATCH', '/api/v1/namespaces/n', {
    body: { spec: { finalizers: [] }, metadata: { labels: null } },
    headers: mergePatch,
  });
  const { spec, metadata } = patched.body as Namespace;
  assert.deepEqual(spec?.finalizers, ['kubernetes']);
  assert.deepEqual(metadata.labels, { 'kubernetes.io/metadata.name': 'n' });
});

test('the namespaces of the system stay', async (t) => {
  const { request } = await start(t);
  await request('POST', '/api/v1/namespaces', { body: { ...namespace, metadata: { name: 'default' } } });
  assert.equal((await request('DELETE', '/api/v1/namespaces/default')).status, 403);
});

test('a pod is bound once', async (t) => {
  const { request } = await start(t);
  await request('POST', pods, { body: pod });
  const bound = await request('POST', `${pods}/p/binding`, { body: binding });
  assert.equal(bound.status, 201);
  assert.equal((bound.body as Status).status, 'Success');
  const { spec, status } = (await request('GET', `${pods}/p`)).body as Pod;
  assert.equal(spec?.nodeName, 'node-1');
  assert.equal(status?.conditions?.[0]?.type, 'PodScheduled');
  assert.equal((await request('POST', `${pods}/p/binding`, { body: binding })).status, 409);
  assert.equal((await request('POST', `${pods}/q/binding`, { body: binding })).status, 404);
  const nowhere = { ...binding, target: { kind: 'Node' } };
  assert.equal((await request('POST', `${pods}/p/binding`, { body: nowhere })).status, 422);
});

test('a pod on a node is marked, and gone when its node says so', async (t) => {
  const { request } = await start(t);
  await request('POST', pods, { body: pod });
  await request('POST', `${pods}/p/binding`, { body: binding });
  const marked = (await request('DELETE', `${pods}/p`)).body as Pod;
  assert.equal(marked.metadata.deletionGracePeriodSeconds, 30);
  assert.equal(marked.metadata.deletionTimestamp, '2026-01-02T03:04:35Z');
  const again = (await request('DELETE', `${pods}/p`)).body as Pod;
  assert.equal(again.metadata.resourceVersion, marked.metadata.resourceVersion);
  const sooner = (await request('DELETE', `${pods}/p?gracePeriodSeconds=5`)).body as Pod;
  assert.equal(sooner.metadata.deletionTimestamp, '2026-01-02T03:04:10Z');
  const longer = (await request('DELETE', `${pods}/p?gracePeriodSeconds=60`)).body as Pod;
  assert.equal(longer.metadata.deletionGracePeriodSeconds, 5);
  const gone = await request('DELETE', `${pods}/p?gracePeriodSeconds=0`);
  assert.equal((gone.body as Pod).metadata.uid, marked.metadata.uid);
  assert.equal((await request('GET', `${pods}/p`)).status, 404);
});

test('a pod that no node runs is gone at once', async (t) => {
  const { request } = await start(t);
  await request('POST', pods, { body: pod });
  await request('DELETE', `${pods}/p`);
  assert.equal((await request('GET', `${pods}/p`)).status, 404);
});

test('the spec of a pod stays, but for its image', async (t) => {
  const { request } = await start(t);
  await request('POST', pods, { body: pod });
  const image = { spec: { containers: [{ name: 'c', image: 'other' }] } };
  assert.equal((await request('PATCH', `${pods}/p`, { body: image, headers: mergePatch })).status, 200);
  const restart = { spec: { restartPolicy: 'Never' } };
  const refused = await request('PATCH', `${pods}/p`, { body: restart, headers: mergePatch });
  assert.equal(refused.status, 422);
  assert.equal((refused.body as Status).details?.causes?.[0]?.field, 'spec');
});

test('text in a secret becomes data', async (t) => {
  const { request } = await start(t);
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'b' } };
  const created = (await request('POST', '/api/v1/namespaces/n/secrets', { body: secret })).body as Secret;
  assert.deepEqual(created.data, { a: 'Yg==' });
  assert.equal(created.stringData, undefined);
  assert.equal(created.type, 'Opaque');
});

test('what is immutable does not change', async (t) => {
  const { request } = await start(t);
  const frozen = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c' },
    data: { a: '1' },
    immutable: true,
  };
  await request('POST', '/api/v1/namespaces/n/configmaps', { body: frozen });
  const path = '/api/v1/namespaces/n/configmaps/c';
  assert.equal(
    (await request('PATCH', path, { body: { data: { a: '2' } }, headers: mergePatch })).status,
    422,
  );
  assert.equal(
    (await request('PATCH', path, { body: { immutable: false }, headers: mergePatch })).status,
    422,
  );
  const labels = { metadata: { labels: { a: 'b' } } };
  assert.equal((await request('PATCH', path, { body: labels, headers: mergePatch })).status, 200);
});

test('names of roles are path segments', async (t) => {
  const { request } = await start(t);
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', rules: [] };
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  const named = (name: string): unknown => ({ ...role, metadata: { name } });
  assert.equal((await request('POST', path, { body: named('system:node') })).status, 201);
  assert.equal((await request('GET', `${path}/system:node`)).status, 200);
  assert.equal((await request('POST', path, { body: named('a%b') })).status, 422);
});

test('an update of a core kind may leave out the resourceVersion', async (t) => {
  const { request } = await start(t);
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: '1' } };
  await request('POST', '/api/v1/namespaces/n/configmaps', { body: map });
  const path = '/api/v1/namespaces/n/configmaps/c';
  const updated = await request('PUT', path, { body: { ...map, data: { a: '2' } } });
  assert.equal(updated.status, 200);
  assert.equal((updated.body as Pod).metadata.generation, undefined);
});
