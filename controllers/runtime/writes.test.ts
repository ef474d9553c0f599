import assert from 'node:assert/strict';
import test from 'node:test';
import { withCondition, withoutCondition } from './conditions.js';
import { ConnectionError, isAlreadyExists, isConflict } from './errors.js';
import { pods } from './kinds.js';
import { FakeClient } from './testing/fake-client.js';
import { overriding } from './testing/overriding.js';
import {
  controllerReference,
  createOwned,
  patchFinalizers,
  patchOwnerReferences,
  patchStatus,
} from './writes.js';

const signal = new AbortController().signal;

async function newPod(client: FakeClient, finalizers: string[] = []) {
  const metadata = { namespace: 'default', name: 'a', ...(finalizers.length === 0 ? {} : { finalizers }) };
  return client.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata });
}

test('a status that says the same is not written', async () => {
  const client = new FakeClient();
  const pod = await newPod(client);
  const first = await patchStatus(client, pods, pod, { phase: 'Running', reason: undefined }, signal);
  assert.equal(first?.status?.phase, 'Running');
  assert.equal(await patchStatus(client, pods, first, { phase: 'Running' }, signal), undefined);
  assert.equal(client.writes.length, 2);
});

test('what the new status lacks is removed', async () => {
  const client = new FakeClient();
  const pod = await newPod(client);
  const first = await patchStatus(client, pods, pod, { phase: 'Running', message: 'x' }, signal);
  assert.ok(first);
  const second = await patchStatus(client, pods, first, { phase: 'Running' }, signal);
  assert.deepEqual(second?.status, { phase: 'Running' });
});

test('a status made from an older state is refused', async () => {
  const client = new FakeClient();
  const pod = await newPod(client);
  await patchStatus(client, pods, pod, { phase: 'Running' }, signal);
  await assert.rejects(patchStatus(client, pods, pod, { phase: 'Failed' }, signal), isConflict);
});

test('finalizers are added once, and removed without touching others', async () => {
  const client = new FakeClient();
  const pod = await newPod(client, ['other']);
  const added = await patchFinalizers(client, pods, pod, { add: 'ours' }, signal);
  assert.deepEqual(added?.metadata.finalizers, ['other', 'ours']);
  assert.equal(await patchFinalizers(client, pods, added, { add: 'ours' }, signal), undefined);
  const removed = await patchFinalizers(client, pods, added, { remove: ['ours', 'absent'] }, signal);
  assert.deepEqual(removed?.metadata.finalizers, ['other']);
});

test('owners come and go one by one', async () => {
  const client = new FakeClient();
  const pod = await newPod(client);
  const owner = await client.create(pods, { ...pod, metadata: { namespace: 'default', name: 'owner' } });
  const add = controllerReference(owner);
  const owned = await patchOwnerReferences(client, pods, pod, { add }, signal);
  assert.deepEqual(owned?.metadata.ownerReferences, [add]);
  assert.equal(await patchOwnerReferences(client, pods, owned, { remove: 'other' }, signal), undefined);
  const free = await patchOwnerReferences(client, pods, owned, { remove: owner.metadata.uid }, signal);
  assert.equal(free?.metadata.ownerReferences, undefined);
});

test('what was created without an answer counts as created, what a stranger has does not', async () => {
  const client = new FakeClient();
  const owner = await newPod(client);
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: 'owned', ownerReferences: [controllerReference(owner)] },
  };
  const deaf = overriding(client, {
    create: async (...call) => {
      await client.create(...call);
      throw new ConnectionError('the connection was reset');
    },
  });
  const created = await createOwned(deaf, pods, object, owner, signal);
  assert.deepEqual(await createOwned(client, pods, object, owner, signal), created);
  const taken = { ...object, metadata: { ...object.metadata, name: owner.metadata.name } };
  await assert.rejects(createOwned(client, pods, taken, owner, signal), isAlreadyExists);
});

test('the time of a condition changes with its status only', () => {
  const start = Date.parse('2026-01-01T00:00:00Z');
  const first = withCondition([], { type: 'Ready', status: 'False', reason: 'A' }, start);
  const second = withCondition(first, { type: 'Ready', status: 'False', reason: 'B' }, start + 5000);
  const third = withCondition(second, { type: 'Ready', status: 'True' }, start + 9000);
  assert.deepEqual(
    [first, second, third].map(([condition]) => condition),
    [
      { type: 'Ready', status: 'False', reason: 'A', lastTransitionTime: '2026-01-01T00:00:00Z' },
      { type: 'Ready', status: 'False', reason: 'B', lastTransitionTime: '2026-01-01T00:00:00Z' },
      { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:09Z' },
    ],
  );
  assert.deepEqual(withoutCondition(third, 'Ready'), []);
});
