import assert from 'node:assert/strict';
import test from 'node:test';
import type { AdmissionPlugin } from '../admission/interface.js';
import { ApiError } from '../errors/api-error.js';
import { admin } from './testing/fixture.js';
import {
  asMachine,
  asStatus,
  causes,
  instancetype,
  instancetypes,
  machine,
  machines,
  mergePatch,
  startWithNamespace,
  type Machine,
} from './testing/objects.js';

const target = { group: 'kubevirt.io', resource: 'virtualmachines', namespace: 'n', name: 'a' };
const actor = { user: admin };

test('the server fills its part of the metadata, whatever the client sent there', async (t) => {
  const { request } = await startWithNamespace(t);
  const sent = {
    uid: 'mine',
    generation: 9,
    deletionTimestamp: '2020-01-01T00:00:00Z',
    creationTimestamp: null,
  };
  const { metadata } = asMachine(await request('POST', machines, { body: machine('a', sent) }));
  assert.notEqual(metadata.uid, 'mine');
  assert.equal(metadata.generation, 1);
  assert.equal(metadata.deletionTimestamp, undefined);
  assert.equal(metadata.creationTimestamp, '2026-01-02T03:04:05Z');
  assert.equal(metadata.namespace, 'n');
  assert.match(metadata.resourceVersion, /^\d+$/);
});

test('a generated name is tried anew while it is taken', async (t) => {
  const { request } = await startWithNamespace(t);
  const names = new Set<string>();
  for (let i = 0; i < 20; i++) {
    const body = { ...machine(''), metadata: { generateName: 'vm-' } };
    const created = asMachine(await request('POST', machines, { body }));
    assert.match(created.metadata.name, /^vm-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    names.add(created.metadata.name);
  }
  assert.equal(names.size, 20);
});

test('status is written apart from the rest', async (t) => {
  const { request } = await startWithNamespace(t);
  const created = asMachine(
    await request('POST', machines, { body: { ...machine('a'), status: { ready: true } } }),
  );
  assert.equal(created.status?.ready, undefined);
  const both = { spec: { runStrategy: 'Always' }, status: { ready: true } };
  const main = asMachine(await request('PATCH', `${machines}/a`, { body: both, headers: mergePatch }));
  assert.equal(main.status?.ready, undefined);
  assert.equal(main.spec.runStrategy, 'Always');
  assert.equal(main.metadata.generation, 2);
  const statusPatch = {
    metadata: { labels: { x: 'y' } },
    spec: { runStrategy: 'Halted' },
    status: { ready: true },
  };
  const status = asMachine(
    await request('PATCH', `${machines}/a/status`, { body: statusPatch, headers: mergePatch }),
  );
  assert.equal(status.status?.ready, true);
  assert.equal(status.spec.runStrategy, 'Always');
  assert.equal(status.metadata.labels, undefined);
  assert.equal(status.metadata.generation, 2);
});

test('an update that changes nothing writes nothing', async (t) => {
  const { request } = await startWithNamespace(t);
  const created = asMachine(await request('POST', machines, { body: machine('a') }));
  // The same object with its keys in another order.
  const { spec, metadata, ...rest } = created;
  const reordered = { spec: Object.fromEntries(Object.entries(spec).reverse()), ...rest, metadata };
  const updated = asMachine(await request('PUT', `${machines}/a`, { body: reordered }));
  assert.equal(updated.metadata.resourceVersion, metadata.resourceVersion);
  const patched = await request('PATCH', `${machines}/a`, { body: {}, headers: mergePatch });
  assert.equal(asMachine(patched).metadata.resourceVersion, metadata.resourceVersion);
});

test('a dry run answers as if, and writes nothing', async (t) => {
  const { request } = await startWithNamespace(t);
  const dry = await request('POST', `${machines}?dryRun=All`, { body: machine('a') });
  assert.equal(dry.status, 201);
  assert.equal((await request('GET', `${machines}/a`)).status, 404);
  await request('POST', machines, { body: machine('a') });
  assert.equal((await request('POST', `${machines}?dryRun=All`, { body: machine('a') })).status, 409);
  const body = { spec: { runStrategy: 'Always' } };
  const patched = await request('PATCH', `${machines}/a?dryRun=All`, { body, headers: mergePatch });
  assert.equal(asMachine(patched).metadata.generation, 2);
  assert.equal(asMachine(await request('GET', `${machines}/a`)).metadata.generation, 1);
});

test('of writers that saw the same state, one wins', async (t) => {
  const { request } = await startWithNamespace(t);
  const created = asMachine(await request('POST', machines, { body: machine('a') }));
  const bodies = ['x', 'y', 'z'].map((value) => ({
    ...created,
    metadata: { ...created.metadata, labels: { value } },
  }));
  const answers = await Promise.all(bodies.map((body) => request('PUT', `${machines}/a`, { body })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
});

test('patches that are tied to no revision all happen', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  const patches = Array.from({ length: 10 }, (_, i) => ({ metadata: { labels: { [`l${i}`]: 'x' } } }));
  const answers = await Promise.all(
    patches.map((body) => request('PATCH', `${machines}/a`, { body, headers: mergePatch })),
  );
  assert.ok(answers.every(({ status }) => status === 200));
  const { labels = {} } = asMachine(await request('GET', `${machines}/a`)).metadata;
  assert.equal(Object.keys(labels).length, 10);
});

test('what the metadata says wrong is a cause each', async (t) => {
  const { request } = await startWithNamespace(t);
  const body = machine('Bad_Name', {
    labels: { 'a b': 'c', ok: 'not ok!' },
    annotations: { 'x y': '' },
    finalizers: ['no good'],
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p' }],
  });
  const refused = await request('POST', machines, { body });
  assert.equal(refused.status, 422);
  assert.deepEqual(causes(refused), [
    'FieldValueInvalid metadata.name',
    'FieldValueInvalid metadata.labels',
    'FieldValueInvalid metadata.labels',
    'FieldValueInvalid metadata.annotations',
    'FieldValueInvalid metadata.ownerReferences.uid',
    'FieldValueInvalid metadata.finalizers',
  ]);
});

test('an owner or finalizer named twice: owners are kept once, with a warning', async (t) => {
  const { request } = await startWithNamespace(t);
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
  const body = machine('a', { ownerReferences: [owner, { ...owner }], finalizers: ['a.io/x', 'a.io/x'] });
  const created = await request('POST', machines, { body });
  assert.equal(created.status, 201);
  assert.match(created.warnings.join(), /ownerReferences .* more than once.*: u$/);
  const { ownerReferences, finalizers } = asMachine(created).metadata;
  assert.deepEqual(ownerReferences, [owner]);
  assert.deepEqual(finalizers, ['a.io/x', 'a.io/x']);
  const event = machine('b', { ownerReferences: [{ ...owner, kind: 'Event' }] });
  assert.deepEqual(causes(await request('POST', machines, { body: event })), [
    'FieldValueInvalid metadata.ownerReferences',
  ]);
});

test('the namespace in the body of a cluster-wide object means nothing', async (t) => {
  const { request } = await startWithNamespace(t);
  const path = '/apis/migrations.kubevirt.io/v1alpha1/migrationpolicies';
  const body = {
    apiVersion: 'migrations.kubevirt.io/v1alpha1',
    kind: 'MigrationPolicy',
    metadata: { name: 'a', namespace: 'elsewhere' },
    spec: { selectors: {} },
  };
  const created = await request('POST', path, { body });
  assert.equal(created.status, 201);
  assert.equal(asMachine(created).metadata.namespace, undefined);
});

test('what a client may not change is refused', async (t) => {
  const { request } = await startWithNamespace(t);
  const created = asMachine(await request('POST', machines, { body: machine('a') }));
  const changed = {
    ...created,
    metadata: { ...created.metadata, creationTimestamp: '2020-01-01T00:00:00Z' },
  };
  const refused = await request('PUT', `${machines}/a`, { body: changed });
  assert.equal(refused.status, 422);
  assert.ok(causes(refused).includes('FieldValueInvalid metadata.creationTimestamp'));
});

test('a finalizer without a domain gets advice once', async (t) => {
  const { request } = await startWithNamespace(t);
  const created = await request('POST', machines, { body: machine('a', { finalizers: ['mine', 'orphan'] }) });
  assert.equal(created.warnings.length, 1);
  const body = { metadata: { labels: { a: 'b' } } };
  assert.deepEqual((await request('PATCH', `${machines}/a`, { body, headers: mergePatch })).warnings, []);
});

test('a version is served from the same bytes', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  const answer = await request('GET', `${machines.replace('/v1/', '/v1alpha3/')}/a`);
  assert.equal(asMachine(answer).apiVersion, 'kubevirt.io/v1alpha3');
  assert.equal(answer.warnings.length, 1);
});

test('unknown and duplicate fields are warned of, refused or ignored', async (t) => {
  const { request } = await startWithNamespace(t);
  const body = JSON.stringify(instancetype('a')).replace('"guest":1', '"guest":1,"guest":2,"colour":"red"');
  const headers = { 'content-type': 'application/json' };
  const ask = (validation: string): ReturnType<typeof request> =>
    request('POST', `${instancetypes}?dryRun=All&fieldValidation=${validation}`, { body, headers });
  assert.deepEqual((await ask('Warn')).warnings, [
    'duplicate field "spec.cpu.guest"',
    'unknown field "spec.cpu.colour"',
  ]);
  assert.deepEqual((await ask('Ignore')).warnings, []);
  const strict = await ask('Strict');
  assert.equal(strict.status, 400);
  assert.match(asStatus(strict).message ?? '', /strict decoding error: duplicate field .*, unknown field/);
});

const recorder = (calls: string[]): AdmissionPlugin => ({
  name: 'recorder',
  handles: ({ kind }) => kind === 'VirtualMachine',
  mutate: ({ operation, object }) => {
    calls.push(`mutate ${operation}`);
    if (object !== undefined) object.metadata.annotations = { ...object.metadata.annotations, seen: 'yes' };
  },
  validate: ({ operation, object }, context) => {
    calls.push(`validate ${operation}`);
    context.warn('a word of advice');
    return object?.metadata.labels?.['refuse'] === undefined
      ? []
      : [{ reason: 'FieldValueInvalid', message: 'no', field: 'metadata.labels' }];
  },
});

test('admission changes and refuses', async (t) => {
  const calls: string[] = [];
  const { request } = await startWithNamespace(t, { admission: [recorder(calls)] });
  const created = await request('POST', machines, { body: machine('a') });
  assert.equal(asMachine(created).metadata.annotations?.['seen'], 'yes');
  assert.deepEqual(created.warnings, ['a word of advice']);
  const refused = await request('POST', machines, { body: machine('b', { labels: { refuse: '' } }) });
  assert.equal(refused.status, 422);
  await request('DELETE', `${machines}/a`);
  assert.deepEqual(calls, [
    'mutate CREATE',
    'validate CREATE',
    'mutate CREATE',
    'validate CREATE',
    'validate DELETE',
  ]);
});

test('a finalizer comes off an object that admission would refuse now', async (t) => {
  const refusing: AdmissionPlugin = {
    name: 'refusing',
    handles: ({ operation }) => operation === 'UPDATE',
    validate: () => [{ reason: 'FieldValueInvalid', message: 'never', field: 'spec' }],
  };
  const { request } = await startWithNamespace(t, { admission: [refusing] });
  await request('POST', machines, { body: machine('a', { finalizers: ['example.com/hold'] }) });
  const body = { metadata: { finalizers: null } };
  assert.equal((await request('PATCH', `${machines}/a`, { body, headers: mergePatch })).status, 422);
  await request('DELETE', `${machines}/a`);
  assert.equal((await request('PATCH', `${machines}/a`, { body, headers: mergePatch })).status, 200);
  assert.equal((await request('GET', `${machines}/a`)).status, 404);
});

test('a plugin never sees a value of the wrong type', async (t) => {
  const calls: string[] = [];
  const { request } = await startWithNamespace(t, { admission: [recorder(calls)] });
  const body = { ...machine('a'), spec: { template: 'none' } };
  const refused = await request('POST', machines, { body });
  assert.equal(refused.status, 422);
  assert.deepEqual(calls, []);
});

test('the server itself writes through the same chain', async (t) => {
  const { registry } = await startWithNamespace(t);
  const created = await registry.create<Machine>(target, machine('a') as Machine, actor);
  assert.equal(created.metadata.managedFields?.[0]?.manager, 'admin');
  const updated = await registry.guaranteedUpdate<Machine>(
    target,
    (vm) => {
      vm.spec.runStrategy = 'Always';
    },
    actor,
  );
  assert.equal(updated.metadata.generation, 2);
  await registry.guaranteedUpdate<Machine>(target, (vm) => ({ ...vm, status: { ready: true } }), {
    ...actor,
    subresource: 'status',
  });
  assert.equal((await registry.get<Machine>(target))?.status?.ready, true);
  assert.equal((await registry.list<Machine>('kubevirt.io', 'virtualmachines', 'n')).length, 1);
  const looked = await registry.lookups.get('kubevirt.io', 'virtualmachines', 'n', 'a');
  assert.equal(looked?.metadata.name, 'a');
  assert.equal((await registry.delete(target, {}, actor)).outcome, 'gone');
  assert.equal(await registry.get(target), undefined);
  await assert.rejects(registry.delete(target, {}, actor), ApiError);
});
