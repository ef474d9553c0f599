import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Node } from '../../openapi/generated/types/core_v1.js';
import { findCondition } from '../runtime/conditions.js';
import { microTimestamp } from '../runtime/clock.js';
import { leases, nodes, pods } from '../runtime/kinds.js';
import { Harness } from '../testing/harness.js';
import { createNodeLifecycleController } from './node-lifecycle-controller.js';

const key = { namespace: 'kube-node-lease', name: 'node1' };

async function started(t: TestContext): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.createNode();
  await harness.client.create(leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: key,
    // Long ago: only what this process has seen itself counts.
    spec: { holderIdentity: 'node1', renewTime: microTimestamp(0) },
  });
  await harness.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name: 'a' },
    spec: { containers: [], nodeName: 'node1' },
  });
  await harness.setStatus(pods, 'a', { conditions: [{ type: 'Ready', status: 'True' }] });
  await harness.start(createNodeLifecycleController);
  return harness;
}

const node = (harness: Harness): Node | undefined => harness.client.find(nodes, { name: 'node1' });
const ready = (harness: Harness): string | undefined =>
  findCondition(node(harness)?.status?.conditions, 'Ready')?.status;
const taintKeys = (harness: Harness): string[] =>
  (node(harness)?.spec?.taints ?? []).map(({ key: taint }) => taint);

function renew(harness: Harness): void {
  harness.client.put(leases, key, (lease) => ({
    ...lease,
    spec: { ...lease.spec, renewTime: microTimestamp(harness.clock.now()) },
  }));
}

test('a node that renews its lease is left alone', async (t) => {
  const harness = await started(t);
  const before = harness.client.writes.length;
  for (let turn = 0; turn < 20; turn++) {
    renew(harness);
    await harness.clock.advance(10_000);
  }
  assert.equal(ready(harness), 'True');
  assert.equal(harness.client.writes.length, before);
});

test('a silent node is Unknown, takes no VMs, and its pods are not ready; no pod is evicted', async (t) => {
  const harness = await started(t);
  await harness.clock.advance(39_000);
  assert.equal(ready(harness), 'True');
  await harness.clock.advance(1000);
  assert.equal(ready(harness), 'Unknown');
  assert.deepEqual(taintKeys(harness), ['node.kubernetes.io/unreachable']);
  assert.equal(node(harness)?.metadata.labels?.['kubevirt.io/schedulable'], 'false');
  assert.equal(findCondition(harness.launcher()?.status?.conditions, 'Ready')?.reason, 'NodeNotReady');
  assert.deepEqual(harness.reasons, ['NodeNotReady']);
  const writes = harness.client.writes.length;
  await harness.clock.advance(3_600_000);
  assert.equal(harness.client.writes.length, writes);
  assert.equal(harness.launcher()?.metadata.deletionTimestamp, undefined);
});

test('a node that is back and ready loses its taint', async (t) => {
  const harness = await started(t);
  await harness.clock.advance(60_000);
  renew(harness);
  await harness.setStatus(nodes, 'node1', { conditions: [{ type: 'Ready', status: 'True' }] });
  assert.deepEqual(taintKeys(harness), []);
});

test('a node that says itself that it is not ready is tainted as such', async (t) => {
  const harness = await started(t);
  renew(harness);
  await harness.setStatus(nodes, 'node1', { conditions: [{ type: 'Ready', status: 'False' }] });
  assert.deepEqual(taintKeys(harness), ['node.kubernetes.io/not-ready']);
});

test('taints of others stay', async (t) => {
  const harness = await started(t);
  await harness.change(nodes, 'node1', (each) => ({
    ...each,
    spec: { taints: [{ key: 'mine', effect: 'NoSchedule' as const }] },
  }));
  await harness.clock.advance(60_000);
  assert.deepEqual(taintKeys(harness), ['mine', 'node.kubernetes.io/unreachable']);
});
