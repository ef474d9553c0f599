import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { PodDisruptionBudget } from '../../openapi/generated/types/policy_v1.js';
import { timestamp } from '../runtime/clock.js';
import { podDisruptionBudgets, pods } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { Harness } from '../testing/harness.js';
import { reviewBudget } from './budget-status.js';
import { createDisruptionController } from './disruption-controller.js';

const web = { app: 'web' };

async function started(t: TestContext, spec: PodDisruptionBudget['spec'] = {}): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.client.create(podDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'default', name: 'keep', generation: 1 },
    spec: { minAvailable: 1, selector: { matchLabels: web }, ...spec },
  });
  await harness.start(createDisruptionController);
  return harness;
}

async function runPod(harness: Harness, name: string, labels: Record<string, string> = web): Promise<void> {
  await harness.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name, labels },
    spec: { containers: [] },
  });
  await harness.setStatus(pods, name, {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
  });
}

const budget = (harness: Harness): PodDisruptionBudget['status'] =>
  harness.client.find(podDisruptionBudgets, { namespace: 'default', name: 'keep' })?.status;
const allowed = (harness: Harness): number | undefined => budget(harness)?.disruptionsAllowed;

test('the status follows the pods that the budget selects', async (t) => {
  const harness = await started(t);
  assert.equal(allowed(harness), 0);
  await runPod(harness, 'a');
  await runPod(harness, 'other', { app: 'db' });
  assert.equal(allowed(harness), 0);
  await runPod(harness, 'b');
  const { conditions, ...status } = budget(harness) ?? {};
  assert.deepEqual(status, {
    observedGeneration: 1,
    disruptionsAllowed: 1,
    currentHealthy: 2,
    desiredHealthy: 1,
    expectedPods: 2,
  });
  assert.deepEqual(
    conditions?.map(({ type, status: is, reason }) => [type, is, reason]),
    [['DisruptionAllowed', 'True', 'SufficientPods']],
  );
  harness.client.remove(pods, { namespace: 'default', name: 'a' });
  await settle();
  assert.equal(allowed(harness), 0);
  await harness.change(pods, 'b', (pod) => ({ ...pod, metadata: { ...pod.metadata, labels: {} } }));
  assert.equal(budget(harness)?.expectedPods, 0);
});

test('the budget of one instance counts its pods alone', async (t) => {
  const created = { 'kubevirt.io/created-by': 'uid' };
  const harness = await started(t, { selector: { matchLabels: created } });
  await runPod(harness, 'launcher', created);
  await runPod(harness, 'another', { 'kubevirt.io/created-by': 'other' });
  assert.deepEqual([budget(harness)?.expectedPods, allowed(harness)], [1, 0]);
});

test('nothing is written where nothing changes', async (t) => {
  const harness = await started(t);
  await runPod(harness, 'a');
  const before = harness.writesOf(podDisruptionBudgets).length;
  await harness.change(pods, 'a', (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, annotations: { x: 'y' } },
  }));
  await harness.clock.advance(3_600_000);
  assert.equal(harness.writesOf(podDisruptionBudgets).length, before);
});

test('an eviction counts until its pod goes, and no longer than two minutes', async (t) => {
  const harness = await started(t);
  for (const name of ['a', 'b', 'c']) await runPod(harness, name);
  assert.equal(allowed(harness), 2);
  // As the eviction of a pod leaves it.
  const since = timestamp(harness.clock.now());
  await harness.setStatus(podDisruptionBudgets, 'keep', {
    disruptionsAllowed: 1,
    disruptedPods: { a: since },
  });
  assert.deepEqual([allowed(harness), budget(harness)?.disruptedPods], [1, { a: since }]);
  await harness.clock.advance(119_000);
  assert.equal(allowed(harness), 1);
  await harness.clock.advance(2000);
  assert.deepEqual([allowed(harness), budget(harness)?.disruptedPods], [2, undefined]);
  await harness.setStatus(podDisruptionBudgets, 'keep', {
    disruptionsAllowed: 1,
    disruptedPods: { b: timestamp(harness.clock.now()) },
  });
  harness.client.remove(pods, { namespace: 'default', name: 'b' });
  await settle();
  assert.deepEqual([allowed(harness), budget(harness)?.disruptedPods], [1, undefined]);
});

test('budgets in numbers and shares', () => {
  // What counts of a pod, and nothing else.
  const pod = (ready: boolean, phase = 'Running'): Pod =>
    ({
      metadata: { name: 'x' },
      status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
    }) as unknown as Pod;
  const four = [pod(true), pod(true), pod(true), pod(false)];
  const allows = (spec: PodDisruptionBudget['spec'], of = four): number | undefined =>
    reviewBudget({ metadata: {}, spec } as PodDisruptionBudget, of, 0).status.disruptionsAllowed;
  assert.equal(allows({ minAvailable: 2 }), 1);
  assert.equal(allows({ minAvailable: '50%' }), 1);
  assert.equal(allows({ minAvailable: '51%' }), 0);
  assert.equal(allows({ maxUnavailable: 1 }), 0);
  assert.equal(allows({ maxUnavailable: '50%' }), 1);
  assert.equal(allows({}), 3);
  assert.equal(allows({ maxUnavailable: 1 }, [...four, pod(false, 'Succeeded')]), 0);
});
