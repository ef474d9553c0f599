import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { KubernetesObject, OwnerReference } from '../../openapi/meta.js';
import type { Kind } from '../runtime/client.js';
import { configMaps, pods, secrets, virtualMachines } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { overriding } from '../runtime/testing/overriding.js';
import { statusError } from '../runtime/testing/status-error.js';
import { Harness } from '../testing/harness.js';
import { discovering } from '../testing/fake-discovery.js';
import { createGarbageCollector } from './garbage-collector.js';

const discovery = () => discovering(configMaps, pods, secrets);

async function started(t: TestContext, served = discovery()): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start((deps) => createGarbageCollector(deps, served));
  return harness;
}

type AnyKind = Kind<KubernetesObject>;

async function make(
  harness: Harness,
  kind: AnyKind,
  name: string,
  ...owners: OwnerReference[]
): Promise<OwnerReference> {
  const metadata = { namespace: 'default', name, ownerReferences: owners };
  const created = await harness.client.create(kind, { apiVersion: 'v1', kind: kind.kind, metadata });
  await settle();
  return {
    apiVersion: 'v1',
    kind: kind.kind,
    name,
    uid: created.metadata.uid,
    blockOwnerDeletion: true,
  };
}

const key = (name: string) => ({ namespace: 'default', name });
const has = (harness: Harness, kind: AnyKind, name: string): boolean =>
  harness.client.find(kind, key(name)) !== undefined;

test('what an owner leaves behind is deleted, and what that leaves behind too', async (t) => {
  const harness = await started(t);
  const owner = await make(harness, configMaps, 'owner');
  const middle = await make(harness, secrets, 'middle', owner);
  await make(harness, pods, 'leaf', middle);
  await harness.client.delete(configMaps, key('owner'));
  await harness.clock.advance(1000);
  assert.equal(has(harness, secrets, 'middle'), false);
  assert.equal(has(harness, pods, 'leaf'), false);
});

test('an object with a living owner stays, without the dead one', async (t) => {
  const harness = await started(t);
  const dead = await make(harness, configMaps, 'dead');
  const living = await make(harness, configMaps, 'living');
  await make(harness, secrets, 'child', dead, living);
  await harness.client.delete(configMaps, key('dead'));
  await harness.clock.advance(1000);
  const child = harness.client.find(secrets, key('child'));
  assert.deepEqual(
    child?.metadata.ownerReferences?.map(({ name }) => name),
    ['living'],
  );
});

test('an object made for an owner that is gone already is deleted', async (t) => {
  const harness = await started(t);
  const owner = await make(harness, configMaps, 'owner');
  await harness.client.delete(configMaps, key('owner'));
  await make(harness, secrets, 'late', owner);
  await harness.clock.advance(1000);
  assert.equal(has(harness, secrets, 'late'), false);
});

test('an owner of the same name but another identity is no owner', async (t) => {
  const harness = await started(t);
  const owner = await make(harness, configMaps, 'owner');
  await make(harness, secrets, 'child', { ...owner, uid: 'older' });
  await harness.clock.advance(1000);
  assert.equal(has(harness, secrets, 'child'), false);
});

test('foreground: the owner waits until those that block it are gone', async (t) => {
  const harness = await started(t);
  const owner = await make(harness, configMaps, 'owner');
  await make(harness, secrets, 'blocking', owner);
  await make(harness, secrets, 'free', { ...owner, blockOwnerDeletion: false });
  harness.client.put(secrets, key('blocking'), (secret) => ({
    ...secret,
    metadata: { ...secret.metadata, finalizers: ['test/hold'] },
  }));
  await harness.client.delete(configMaps, key('owner'), { propagationPolicy: 'Foreground' });
  await harness.clock.advance(1000);
  assert.ok(harness.client.find(configMaps, key('owner')), 'it waits');
  assert.ok(harness.client.find(secrets, key('blocking'))?.metadata.deletionTimestamp);
  harness.client.remove(secrets, key('blocking'));
  await harness.clock.advance(1000);
  assert.equal(harness.client.find(configMaps, key('owner')), undefined);
  assert.equal(has(harness, secrets, 'free'), false);
});

test('foreground goes all the way down', async (t) => {
  const harness = await started(t);
  const owner = await make(harness, configMaps, 'owner');
  const middle = await make(harness, secrets, 'middle', owner);
  await make(harness, pods, 'leaf', middle);
  await harness.client.delete(configMaps, key('owner'), { propagationPolicy: 'Foreground' });
  await harness.clock.advance(1000);
  assert.equal(harness.client.find(configMaps, key('owner')), undefined);
  const deletions = harness.client.writes
    .filter(({ verb }) => verb === 'delete')
    .map(({ key: each }) => each);
  assert.deepEqual(deletions, ['default/owner', 'default/middle', 'default/leaf']);
});

test('an owner that waits for a dependent goes when the dependent is given away', async (t) => {
  const harness = await started(t);
  const owner = await make(harness, configMaps, 'owner');
  await make(harness, secrets, 'child', owner);
  harness.client.put(secrets, key('child'), (secret) => ({
    ...secret,
    metadata: { ...secret.metadata, finalizers: ['test/hold'] },
  }));
  await harness.client.delete(configMaps, key('owner'), { propagationPolicy: 'Foreground' });
  await harness.clock.advance(1000);
  harness.client.put(secrets, key('child'), (secret) => ({
    ...secret,
    metadata: { ...secret.metadata, ownerReferences: [] },
  }));
  await harness.clock.advance(1000);
  assert.equal(harness.client.find(configMaps, key('owner')), undefined);
});

test('orphan: the dependents stay without their owner', async (t) => {
  const harness = await started(t);
  const owner = await make(harness, configMaps, 'owner');
  await make(harness, secrets, 'child', owner);
  await harness.client.delete(configMaps, key('owner'), { propagationPolicy: 'Orphan' });
  await harness.clock.advance(1000);
  assert.equal(harness.client.find(configMaps, key('owner')), undefined);
  assert.deepEqual(harness.client.find(secrets, key('child'))?.metadata.ownerReferences, undefined);
});

test('a server that does not answer for an owner proves nothing', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  const owner = await make(harness, configMaps, 'owner');
  await make(harness, secrets, 'child', owner);
  // The owner's kind can not be listed, so nothing may be collected at all.
  await harness.start((deps) => {
    const client = {
      ...deps.client,
      list: (...[kind, params, signal]: Parameters<typeof deps.client.list>) =>
        kind.resource === 'configmaps'
          ? Promise.reject(statusError('ServiceUnavailable', kind))
          : deps.client.list(kind, params, signal),
    };
    return createGarbageCollector({ ...deps, client: client as typeof deps.client }, discovery());
  });
  await harness.clock.advance(120_000);
  assert.equal(has(harness, secrets, 'child'), true);
});

test('an owner of a kind that nobody serves is given the benefit of the doubt', async (t) => {
  const harness = await started(t);
  await make(harness, secrets, 'child', { apiVersion: 'gone/v1', kind: 'Thing', name: 'x', uid: 'x' });
  await harness.clock.advance(180_000);
  assert.equal(has(harness, secrets, 'child'), true);
});

test('kinds that appear later are collected as well', async (t) => {
  const kinds = [discovering(configMaps), discovering(configMaps, secrets)];
  let asked = 0;
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start((deps) =>
    createGarbageCollector(deps, {
      kinds: (signal) => (kinds[Math.min(asked++, 1)] ?? discovery()).kinds(signal),
    }),
  );
  const owner = await make(harness, configMaps, 'owner');
  await make(harness, secrets, 'child', owner);
  await harness.client.delete(configMaps, key('owner'));
  await harness.clock.advance(31_000);
  assert.equal(has(harness, secrets, 'child'), false);
});

test('an informer that others use is shared', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  const watched: string[] = [];
  await harness.start((deps) => {
    deps.informers.get(virtualMachines);
    const { client } = deps;
    const counting = overriding(client, {
      watch: (kind, params, signal) => {
        watched.push(kind.resource);
        return client.watch(kind, params, signal);
      },
    });
    return createGarbageCollector({ ...deps, client: counting }, discovering(virtualMachines, configMaps));
  });
  assert.deepEqual(watched, ['configmaps']);
});

test('objects that own each other do not wait for each other for ever', async (t) => {
  const harness = await started(t);
  const first = await make(harness, configMaps, 'first');
  const second = await make(harness, secrets, 'second', first);
  await harness.change(configMaps, 'first', (each) => ({
    ...each,
    metadata: { ...each.metadata, ownerReferences: [second] },
  }));
  await harness.client.delete(configMaps, key('first'), { propagationPolicy: 'Foreground' });
  await harness.clock.advance(5000);
  assert.equal(has(harness, configMaps, 'first'), false);
  assert.equal(has(harness, secrets, 'second'), false);
});

test('what is collected does with its own dependents as its finalizers say', async (t) => {
  const harness = await started(t);
  const owner = await make(harness, configMaps, 'owner');
  const middle = await make(harness, secrets, 'middle', owner);
  await make(harness, pods, 'leaf', middle);
  await harness.change(secrets, 'middle', (each) => ({
    ...each,
    metadata: { ...each.metadata, finalizers: ['orphan'] },
  }));
  await harness.client.delete(configMaps, key('owner'));
  await harness.clock.advance(5000);
  assert.equal(has(harness, secrets, 'middle'), false);
  assert.deepEqual(harness.client.find(pods, key('leaf'))?.metadata.ownerReferences ?? [], []);
});
