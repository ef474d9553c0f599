import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Pod, PodSpec } from '../../openapi/generated/types/core_v1.js';
import { findCondition } from '../runtime/conditions.js';
import { nodes, persistentVolumeClaims, pods } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { statusError } from '../runtime/testing/status-error.js';
import { Harness } from '../testing/harness.js';
import { createSchedulerController } from './scheduler.js';

async function createPod(harness: Harness, name: string, spec: Partial<PodSpec> = {}): Promise<void> {
  await harness.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name },
    spec: { containers: [], ...spec },
  });
  await settle();
}

async function started(t: TestContext): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start(createSchedulerController);
  return harness;
}

const pod = (harness: Harness, name: string): Pod | undefined =>
  harness.client.find(pods, { namespace: 'default', name });
const nodeOf = (harness: Harness, name: string): string | undefined => pod(harness, name)?.spec?.nodeName;
const half = { containers: [{ name: 'c', resources: { requests: { memory: '5Gi' } } }] };

test('a pod is bound, and an event says where', async (t) => {
  const harness = await started(t);
  await harness.createNode();
  await createPod(harness, 'a');
  assert.equal(nodeOf(harness, 'a'), 'node1');
  assert.deepEqual(harness.events, [
    {
      object: 'a',
      type: 'Normal',
      reason: 'Scheduled',
      message: 'Successfully assigned default/a to node1',
    },
  ]);
});

test('a pod that fits nowhere is said so once, and is bound as soon as there is room', async (t) => {
  const harness = await started(t);
  await createPod(harness, 'a');
  const scheduled = (): ReturnType<typeof findCondition> =>
    findCondition(pod(harness, 'a')?.status?.conditions, 'PodScheduled');
  assert.equal(scheduled()?.reason, 'Unschedulable');
  assert.equal(scheduled()?.message, 'no nodes available to schedule pods');
  await harness.clock.advance(300_000);
  assert.deepEqual(harness.reasons, ['FailedScheduling']);
  await harness.createNode();
  assert.equal(nodeOf(harness, 'a'), 'node1');
});

test('two pods are not put where only one has room, though they come together', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.createNode();
  await createPod(harness, 'a', half);
  await createPod(harness, 'b', half);
  await harness.start(createSchedulerController);
  assert.deepEqual([nodeOf(harness, 'a'), nodeOf(harness, 'b')], ['node1', undefined]);
  harness.client.remove(pods, { namespace: 'default', name: 'a' });
  await settle();
  assert.equal(nodeOf(harness, 'b'), 'node1');
});

test('a node that becomes ready gets what waits', async (t) => {
  const harness = await started(t);
  await harness.createNode('node1', { status: { conditions: [{ type: 'Ready', status: 'False' }] } });
  await createPod(harness, 'a');
  assert.equal(nodeOf(harness, 'a'), undefined);
  await harness.setStatus(nodes, 'node1', { conditions: [{ type: 'Ready', status: 'True' }] });
  assert.equal(nodeOf(harness, 'a'), 'node1');
});

test('a pod of another scheduler, a gated one and a deleted one are left alone', async (t) => {
  const harness = await started(t);
  await harness.createNode();
  await createPod(harness, 'other', { schedulerName: 'mine' });
  await createPod(harness, 'gated', { schedulingGates: [{ name: 'wait' }] });
  assert.deepEqual([nodeOf(harness, 'other'), nodeOf(harness, 'gated')], [undefined, undefined]);
  assert.deepEqual(harness.reasons, []);
});

test('a pod waits for its claims, and is told when one is missing', async (t) => {
  const harness = await started(t);
  await harness.createNode();
  const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
  await createPod(harness, 'a', { volumes });
  const message = (): string | undefined =>
    findCondition(pod(harness, 'a')?.status?.conditions, 'PodScheduled')?.message;
  assert.equal(message(), 'persistentvolumeclaim "data" not found');
  await harness.client.create(persistentVolumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name: 'data' },
  });
  await harness.clock.advance(5000);
  assert.equal(message(), 'pod has unbound immediate PersistentVolumeClaims');
  await harness.setStatus(persistentVolumeClaims, 'data', { phase: 'Bound' });
  assert.equal(nodeOf(harness, 'a'), 'node1');
});

test('a binding that fails is tried again', async (t) => {
  const harness = await started(t);
  await harness.createNode();
  let failures = 2;
  harness.client.beforeWrite = ({ subresource }) => {
    if (subresource === 'binding' && failures-- > 0) throw statusError('InternalError', pods);
  };
  await createPod(harness, 'a');
  await harness.clock.advance(1000);
  assert.equal(nodeOf(harness, 'a'), 'node1');
});
