import assert from 'node:assert/strict';
import test from 'node:test';
import type { KubernetesObject } from '../../openapi/meta.js';
import { asMachine, asStatus, machine, machines, mergePatch, startWithNamespace } from './testing/objects.js';

const hold = { finalizers: ['example.com/hold'] };
const options = (more: object): object => ({ kind: 'DeleteOptions', apiVersion: 'v1', ...more });

test('what nothing holds is gone, and the answer says what it was', async (t) => {
  const { request } = await startWithNamespace(t);
  const policies = '/apis/migrations.kubevirt.io/v1alpha1/migrationpolicies';
  const body = {
    apiVersion: 'migrations.kubevirt.io/v1alpha1',
    kind: 'MigrationPolicy',
    metadata: { name: 'a' },
    spec: { selectors: {} },
  };
  const { metadata } = (await request('POST', policies, { body })).body as KubernetesObject;
  const { details } = asStatus(await request('DELETE', `${policies}/a`));
  assert.deepEqual(details, {
    name: 'a',
    group: 'migrations.kubevirt.io',
    kind: 'migrationpolicies',
    uid: metadata.uid,
  });
});

test('a kind whose objects are mostly held shows the object, held or not', async (t) => {
  const { request } = await startWithNamespace(t);
  const created = asMachine(await request('POST', machines, { body: machine('a') }));
  assert.deepEqual(asMachine(await request('DELETE', `${machines}/a?dryRun=All`)), created);
  const deleted = asMachine(await request('DELETE', `${machines}/a`));
  assert.equal(deleted.metadata.uid, created.metadata.uid);
  assert.equal((await request('GET', `${machines}/a`)).status, 404);
});

test('options may be null, as generated clients write them', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  assert.equal((await request('DELETE', `${machines}/a`, { body: null })).status, 200);
  await request('POST', machines, { body: machine('b') });
  assert.equal((await request('DELETE', `${machines}/b`, { body: [] })).status, 400);
});

test('a finalizer holds it; a second delete changes nothing', async (t) => {
  const { request, advance } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a', hold) });
  const marked = asMachine(await request('DELETE', `${machines}/a`));
  assert.equal(marked.metadata.deletionTimestamp, '2026-01-02T03:04:05Z');
  assert.equal(marked.metadata.deletionGracePeriodSeconds, 0);
  assert.equal(marked.metadata.generation, 2);
  advance(10_000);
  const again = asMachine(await request('DELETE', `${machines}/a`));
  assert.deepEqual(again, marked);
  const body = { metadata: { deletionTimestamp: null, labels: { a: 'b' } } };
  const patched = asMachine(await request('PATCH', `${machines}/a`, { body, headers: mergePatch }));
  assert.equal(patched.metadata.deletionTimestamp, marked.metadata.deletionTimestamp);
});

test('the policy chooses the finalizer of the garbage collector', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a', hold) });
  const finalizersAfter = async (policy: string): Promise<unknown> => {
    const body = options({ propagationPolicy: policy });
    return asMachine(await request('DELETE', `${machines}/a`, { body })).metadata.finalizers;
  };
  assert.deepEqual(await finalizersAfter('Foreground'), ['example.com/hold', 'foregroundDeletion']);
  assert.deepEqual(await finalizersAfter('Orphan'), ['example.com/hold', 'orphan']);
  assert.deepEqual(await finalizersAfter('Background'), ['example.com/hold']);
});

test('orphanDependents is the old word for the policy', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  const marked = asMachine(
    await request('DELETE', `${machines}/a`, { body: options({ orphanDependents: true }) }),
  );
  assert.deepEqual(marked.metadata.finalizers, ['orphan']);
  const both = options({ orphanDependents: true, propagationPolicy: 'Orphan' });
  assert.equal((await request('DELETE', `${machines}/a`, { body: both })).status, 422);
});

test('preconditions', async (t) => {
  const { request } = await startWithNamespace(t);
  const { metadata } = asMachine(await request('POST', machines, { body: machine('a') }));
  const wrong = [{ uid: 'other' }, { resourceVersion: '1' }, { uid: metadata.uid, resourceVersion: '1' }];
  for (const preconditions of wrong) {
    const answer = await request('DELETE', `${machines}/a`, { body: options({ preconditions }) });
    assert.equal(answer.status, 409);
  }
  const preconditions = { uid: metadata.uid, resourceVersion: metadata.resourceVersion };
  const deleted = await request('DELETE', `${machines}/a`, { body: options({ preconditions }) });
  assert.equal(deleted.status, 200);
});

test('a dry run deletes nothing', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  assert.equal((await request('DELETE', `${machines}/a?dryRun=All`)).status, 200);
  assert.equal((await request('GET', `${machines}/a`)).status, 200);
});

test('options that are none', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  for (const body of ['[]', '{', '"x"', options({ gracePeriodSeconds: 'long' }), { kind: 'Pod' }]) {
    const answer = await request('DELETE', `${machines}/a`, { body });
    assert.equal(answer.status, 400, JSON.stringify(body));
  }
});

test('a collection is deleted by label, and answers with what it was', async (t) => {
  const { request } = await startWithNamespace(t);
  for (let i = 0; i < 50; i++) {
    await request('POST', machines, { body: machine(`m${i}`, { labels: { even: String(i % 2 === 0) } }) });
  }
  const answer = await request('DELETE', `${machines}?labelSelector=even%3Dtrue`);
  assert.equal((answer.body as { items: unknown[] }).items.length, 25);
  const rest = await request('GET', machines);
  assert.equal((rest.body as { items: unknown[] }).items.length, 25);
});
