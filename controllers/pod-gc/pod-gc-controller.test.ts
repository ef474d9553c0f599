import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { nodes, pods } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { Harness } from '../testing/harness.js';
import { createPodGarbageController } from './pod-gc-controller.js';

async function started(t: TestContext, nodeName?: string): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.createNode();
  await harness.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: 'a' },
    spec: { containers: [], ...(nodeName === undefined ? {} : { nodeName }) },
  });
  await harness.start(createPodGarbageController);
  return harness;
}

test('pods of a node that is gone are removed, after a while', async (t) => {
  const harness = await started(t, 'node1');
  harness.client.remove(nodes, { name: 'node1' });
  await harness.clock.advance(39_000);
  assert.ok(harness.launcher());
  await harness.clock.advance(1000);
  assert.equal(harness.launcher(), undefined);
});

test('a node that comes back keeps its pods', async (t) => {
  const harness = await started(t, 'node1');
  harness.client.remove(nodes, { name: 'node1' });
  await harness.clock.advance(30_000);
  await harness.createNode();
  await harness.clock.advance(60_000);
  assert.ok(harness.launcher());
});

test('a deleted pod that never got a node is removed', async (t) => {
  const harness = await started(t);
  assert.ok(harness.launcher());
  harness.client.put(pods, { namespace: 'default', name: 'a' }, (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' },
  }));
  await settle();
  assert.equal(harness.launcher(), undefined);
});

test('on a node that is out of service what was deleted is removed, and nothing else', async (t) => {
  const harness = await started(t, 'node1');
  await harness.change(nodes, 'node1', (node) => ({
    ...node,
    spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' as const }] },
  }));
  await harness.client.delete(pods, { namespace: 'default', name: 'a' });
  await settle();
  assert.ok(harness.launcher(), 'the node says that it is ready');
  await harness.setStatus(nodes, 'node1', { conditions: [{ type: 'Ready', status: 'Unknown' }] });
  assert.equal(harness.launcher(), undefined);
});
