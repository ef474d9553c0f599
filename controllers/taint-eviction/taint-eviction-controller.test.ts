import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Taint, Toleration } from '../../openapi/generated/types/core_v1.js';
import { findCondition } from '../runtime/conditions.js';
import { nodes, pods } from '../runtime/kinds.js';
import { Harness } from '../testing/harness.js';
import { createTaintEvictionController } from './taint-eviction-controller.js';

const key = { namespace: 'default', name: 'a' };
const repair: Taint = { key: 'repair', value: 'disk', effect: 'NoExecute' };
const tolerated = (tolerationSeconds?: number): Toleration => ({
  key: 'repair',
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
});

async function started(t: TestContext, ...tolerations: readonly Toleration[]): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.createNode();
  await harness.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    // It stays until its kubelet has ended it.
    metadata: { ...key, finalizers: ['example.org/kubelet'] },
    spec: { containers: [], nodeName: 'node1', tolerations: [...tolerations] },
  });
  await harness.start(createTaintEvictionController);
  return harness;
}

async function taint(harness: Harness, ...taints: readonly Taint[]): Promise<void> {
  await harness.change(nodes, 'node1', (node) => ({ ...node, spec: { taints: [...taints] } }));
}

const isLeaving = (harness: Harness): boolean =>
  harness.client.find(pods, key)?.metadata.deletionTimestamp !== undefined;

test('a pod that does not tolerate the taint goes at once, and says why', async (t) => {
  const harness = await started(t);
  await taint(harness, { ...repair, effect: 'NoSchedule' });
  assert.equal(isLeaving(harness), false, 'it is on the node already');
  await taint(harness, repair);
  assert.equal(isLeaving(harness), true);
  const target = findCondition(harness.client.find(pods, key)?.status?.conditions, 'DisruptionTarget');
  assert.equal(target?.reason, 'DeletionByTaintManager');
  assert.deepEqual(harness.reasons, ['TaintManagerEviction']);
  assert.equal(harness.writesOf(pods).filter((write) => write === 'delete').length, 1);
});

test('one that tolerates it stays', async (t) => {
  const harness = await started(t, tolerated());
  await taint(harness, repair);
  await harness.clock.advance(86_400_000);
  assert.equal(isLeaving(harness), false);
});

test('one that tolerates it for a while goes when that is over, in the shortest of its times', async (t) => {
  const other: Toleration = { key: 'other', operator: 'Exists', tolerationSeconds: 60 };
  const harness = await started(t, tolerated(300), other);
  await taint(harness, repair);
  await harness.clock.advance(50_000);
  await taint(harness, repair, { key: 'other', effect: 'NoExecute' });
  await harness.clock.advance(9000);
  assert.equal(isLeaving(harness), false);
  await harness.clock.advance(1000);
  assert.equal(isLeaving(harness), true);
});

test('it may stay if the taint goes in time; the next taint starts the time anew', async (t) => {
  const harness = await started(t, tolerated(60));
  await taint(harness, repair);
  await harness.clock.advance(50_000);
  await taint(harness);
  assert.match(harness.events.at(-1)?.message ?? '', /Cancelling deletion of Pod default\/a/);
  await harness.clock.advance(60_000);
  await taint(harness, repair);
  await harness.clock.advance(59_000);
  assert.equal(isLeaving(harness), false);
  await harness.clock.advance(1000);
  assert.equal(isLeaving(harness), true);
});

test('a controller that starts anew finds what is to be done', async (t) => {
  const harness = await started(t);
  await harness.stop();
  await taint(harness, repair);
  await harness.start(createTaintEvictionController);
  assert.equal(isLeaving(harness), true);
});
