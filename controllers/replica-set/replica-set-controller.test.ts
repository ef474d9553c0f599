import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceReplicaSet,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { findCondition } from '../runtime/conditions.js';
import { virtualMachineInstanceReplicaSets, virtualMachineInstances } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { statusError } from '../runtime/testing/status-error.js';
import { Harness, guest } from '../testing/harness.js';
import { createReplicaSetController } from './replica-set-controller.js';

type Spec = VirtualMachineInstanceReplicaSet['spec'];

/** Templates have no identity, though their type knows the fields. */
const unnamed = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' };
const labels = { app: 'web' };

async function create(harness: Harness, spec: Partial<Spec> = {}): Promise<VirtualMachineInstanceReplicaSet> {
  const replicaSet = await harness.client.create(virtualMachineInstanceReplicaSets, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceReplicaSet',
    metadata: { namespace: 'default', name: 'web' },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      template: { metadata: { ...unnamed, labels, annotations: { note: 'x' } }, spec: guest() },
      ...spec,
    },
  });
  await settle();
  return replicaSet;
}

async function started(t: TestContext, spec: Partial<Spec> = {}): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start(createReplicaSetController);
  await create(harness, spec);
  return harness;
}

const current = (harness: Harness): VirtualMachineInstanceReplicaSet | undefined =>
  harness.client.find(virtualMachineInstanceReplicaSets, { namespace: 'default', name: 'web' });

/** Those that are not being deleted. */
const remaining = (harness: Harness): VirtualMachineInstance[] =>
  harness.client
    .all(virtualMachineInstances)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined);

const names = (harness: Harness): string[] => remaining(harness).map(({ metadata }) => metadata.name);

function respec(harness: Harness, change: Partial<Spec>): Promise<void> {
  return harness.change(virtualMachineInstanceReplicaSets, 'web', (replicaSet) => ({
    ...replicaSet,
    spec: { ...replicaSet.spec, ...change },
  }));
}

test('as many instances are made as are wanted, as the template says', async (t) => {
  const harness = await started(t);
  const made = remaining(harness);
  assert.equal(made.length, 3);
  const [first] = made;
  assert.ok(first);
  assert.match(first.metadata.name, /^web[bcdfghjklmnpqrstvwxz2-9]{5}$/);
  assert.deepEqual(first.metadata.labels, labels);
  assert.deepEqual(first.metadata.annotations, { note: 'x' });
  assert.deepEqual(first.metadata.finalizers, ['kubevirt.io/foregroundDeleteVirtualMachine']);
  assert.deepEqual(first.metadata.ownerReferences, [
    {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstanceReplicaSet',
      name: 'web',
      uid: current(harness)?.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
  assert.deepEqual(harness.reasons, ['SuccessfulCreate', 'SuccessfulCreate', 'SuccessfulCreate']);
});

test('the status is written once when instances are made, and once for each that gets ready', async (t) => {
  const harness = await started(t);
  assert.deepEqual(current(harness)?.status, { labelSelector: 'app=web', readyReplicas: 0, replicas: 3 });
  assert.deepEqual(harness.writesOf(virtualMachineInstanceReplicaSets), ['create', 'patch/status']);
  for (const name of names(harness)) await harness.startGuest(name);
  assert.equal(current(harness)?.status?.readyReplicas, 3);
  assert.equal(harness.writesOf(virtualMachineInstanceReplicaSets).length, 5);
});

test('one instance without a number; none for 0', async (t) => {
  const harness = await started(t, { replicas: 0 });
  assert.equal(remaining(harness).length, 0);
  assert.equal(current(harness)?.status?.replicas, 0);
  await harness.change(virtualMachineInstanceReplicaSets, 'web', (replicaSet) => {
    const spec = { ...replicaSet.spec };
    delete spec.replicas;
    return { ...replicaSet, spec };
  });
  assert.equal(remaining(harness).length, 1);
});

test('of too many those go first that serve least', async (t) => {
  const harness = await started(t, { replicas: 4 });
  // The first is still pending.
  const [, unready = '', ready = '', oldest = ''] = names(harness);
  for (const name of [ready, oldest]) await harness.startGuest(name);
  await harness.setStatus(virtualMachineInstances, unready, { phase: 'Running' });
  await harness.change(virtualMachineInstances, oldest, (vmi) => ({
    ...vmi,
    metadata: { ...vmi.metadata, creationTimestamp: '2020-01-01T00:00:00Z' },
  }));
  for (const left of [[unready, ready, oldest], [ready, oldest], [oldest]]) {
    await respec(harness, { replicas: left.length });
    assert.deepEqual(names(harness).sort(), left.sort());
  }
  assert.equal(current(harness)?.status?.replicas, 1);
});

test('what is deleted or ends is replaced; what has ended is deleted', async (t) => {
  const harness = await started(t);
  const [deleted = '', ended = '', kept = ''] = names(harness);
  await harness.client.delete(virtualMachineInstances, { namespace: 'default', name: deleted });
  await settle();
  assert.equal(remaining(harness).length, 3);
  await harness.endGuest('Succeeded', ended);
  assert.equal(remaining(harness).length, 3);
  assert.ok(harness.vmi(ended)?.metadata.deletionTimestamp !== undefined);
  assert.ok(names(harness).includes(kept));
  assert.ok(harness.events.some(({ message }) => message.endsWith(`${ended}, which has ended`)));
});

test('paused: nothing is made or deleted until it goes on', async (t) => {
  const harness = await started(t, { paused: true });
  assert.equal(remaining(harness).length, 0);
  assert.equal(findCondition(current(harness)?.status?.conditions, 'ReplicaPaused')?.status, 'True');
  await respec(harness, { paused: false });
  assert.equal(remaining(harness).length, 3);
  assert.equal(current(harness)?.status?.conditions, undefined);
  assert.deepEqual(harness.reasons.slice(0, 1), ['SuccessfulPaused']);
  assert.equal(harness.reasons.at(-1), 'SuccessfulResumed');
});

test('a refused creation is told once, not once an instance, and tried again', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  let full = true;
  harness.client.beforeWrite = ({ verb, resource }) => {
    if (full && verb === 'create' && resource === 'virtualmachineinstances')
      throw statusError('Forbidden', virtualMachineInstances, 'web', 'exceeded quota');
  };
  await harness.start(createReplicaSetController);
  await create(harness, { replicas: 200 });
  const failure = findCondition(current(harness)?.status?.conditions, 'ReplicaFailure');
  assert.equal(failure?.reason, 'FailedCreate');
  assert.equal(failure.message, 'exceeded quota');
  assert.ok(harness.writesOf(virtualMachineInstances).length < 5);
  full = false;
  await harness.clock.advance(60_000);
  assert.equal(remaining(harness).length, 200);
  assert.equal(current(harness)?.status?.conditions, undefined);
});

test('no more than a burst is made before looking again', async (t) => {
  const harness = await started(t, { replicas: 260 });
  const writes = harness.client.writes.map(({ verb, resource }) => `${verb} ${resource}`);
  const firstStatus = writes.indexOf('patch virtualmachineinstancereplicasets');
  assert.equal(writes.slice(0, firstStatus).filter((write) => write.startsWith('create')).length, 1 + 250);
  await settle();
  assert.equal(remaining(harness).length, 260);
  assert.equal(current(harness)?.status?.replicas, 260);
});

test('instances are taken in when they match and nobody controls them, and let go when they no longer match', async (t) => {
  const harness = await started(t, { replicas: 1 });
  const [own = ''] = names(harness);
  await harness.client.create(virtualMachineInstances, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace: 'default', name: 'stray', labels },
    spec: guest(),
  });
  await settle();
  // Taken in, it was one too many. They are of an age, so the first by name went.
  assert.deepEqual(names(harness), [own]);
  await harness.change(virtualMachineInstances, own, (vmi) => ({
    ...vmi,
    metadata: { ...vmi.metadata, labels: { app: 'debug' } },
  }));
  assert.equal(harness.vmi(own)?.metadata.ownerReferences, undefined);
  assert.equal(remaining(harness).length, 2);
});

test('one that is being deleted makes nothing, and lets its instances be', async (t) => {
  const harness = await started(t);
  await harness.client.delete(
    virtualMachineInstanceReplicaSets,
    { namespace: 'default', name: 'web' },
    { propagationPolicy: 'Orphan' },
  );
  const [first = ''] = names(harness);
  harness.client.remove(virtualMachineInstances, { namespace: 'default', name: first });
  await settle();
  // The garbage collector takes the owner away; it must not come back.
  for (const name of names(harness))
    await harness.change(virtualMachineInstances, name, (vmi) => {
      const metadata = { ...vmi.metadata };
      delete metadata.ownerReferences;
      return { ...vmi, metadata };
    });
  assert.equal(remaining(harness).length, 2);
  assert.ok(remaining(harness).every(({ metadata }) => metadata.ownerReferences === undefined));
});

test('at rest nothing is written', async (t) => {
  const harness = await started(t);
  for (const name of names(harness)) await harness.startGuest(name);
  harness.client.writes.length = 0;
  await harness.clock.advance(120_000);
  assert.deepEqual(harness.client.writes, []);
  assert.deepEqual(harness.logger.problems, []);
});
