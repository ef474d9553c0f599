import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Pod, PodSpec } from '../../openapi/generated/types/core_v1.js';
import { findCondition } from '../runtime/conditions.js';
import { namespaces, nodes, podDisruptionBudgets, pods, priorityClasses } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { Harness } from '../testing/harness.js';
import { createSchedulerController } from './scheduler.js';

async function started(t: TestContext, ...nodeNames: string[]): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  for (const [name, value] of Object.entries({ high: 1000, low: 10 }))
    await harness.client.create(priorityClasses, {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name },
      value,
    });
  for (const name of nodeNames) await harness.createNode(name, { status: nodeStatus('1Gi') });
  await harness.start(createSchedulerController);
  return harness;
}

const nodeStatus = (memory: string) => ({
  allocatable: { cpu: '4', memory, pods: '110' },
  conditions: [{ type: 'Ready', status: 'True' }],
});

async function create(
  harness: Harness,
  name: string,
  memory: string,
  spec: Partial<PodSpec> = {},
  namespace = 'default',
): Promise<void> {
  const containers = [{ name: 'c', resources: { requests: { memory } } }];
  await harness.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, labels: { app: name } },
    spec: { containers, ...spec },
  });
  await harness.clock.advance(1000);
}

const pod = (harness: Harness, name: string): Pod | undefined =>
  harness.client.find(pods, { namespace: 'default', name });
const message = (harness: Harness, name: string): string | undefined =>
  findCondition(pod(harness, name)?.status?.conditions, 'PodScheduled')?.message;

test('a more important pod pushes the least important ones off, and takes their place when they have gone', async (t) => {
  const harness = await started(t, 'node1');
  await create(harness, 'cheap', '400Mi', { priorityClassName: 'low' });
  await create(harness, 'cheaper', '400Mi');
  await create(harness, 'vip', '500Mi', { priorityClassName: 'high' });
  assert.notEqual(pod(harness, 'cheaper')?.metadata.deletionTimestamp, undefined);
  assert.equal(pod(harness, 'cheap')?.metadata.deletionTimestamp, undefined);
  const target = findCondition(pod(harness, 'cheaper')?.status?.conditions, 'DisruptionTarget');
  assert.equal(target?.reason, 'PreemptionByScheduler');
  assert.equal(pod(harness, 'vip')?.status?.nominatedNodeName, 'node1');
  assert.equal(message(harness, 'vip'), '0/1 nodes are available: 1 Insufficient memory.');
  const uid = pod(harness, 'vip')?.metadata.uid ?? '';
  const preempted = harness.events.filter(({ reason }) => reason === 'Preempted');
  assert.deepEqual(
    preempted.map((event) => [event.object, event.message]),
    [['cheaper', `Preempted by pod ${uid} on node node1`]],
  );
  await harness.clock.advance(120_000);
  assert.equal(pod(harness, 'cheap')?.metadata.deletionTimestamp, undefined, 'one was enough');
  harness.client.remove(pods, { namespace: 'default', name: 'cheaper' });
  await settle();
  assert.equal(pod(harness, 'vip')?.spec?.nodeName, 'node1');
});

test('nobody less important takes the room that is being made', async (t) => {
  const harness = await started(t, 'node1');
  await create(harness, 'cheap', '900Mi');
  await create(harness, 'vip', '900Mi', { priorityClassName: 'high' });
  await create(harness, 'sneaky', '900Mi', { priorityClassName: 'low' });
  harness.client.remove(pods, { namespace: 'default', name: 'cheap' });
  await harness.clock.advance(1000);
  assert.equal(pod(harness, 'vip')?.spec?.nodeName, 'node1');
  assert.equal(pod(harness, 'sneaky')?.spec?.nodeName, undefined);
});

test('the node is chosen where the least harm is done', async (t) => {
  const harness = await started(t, 'node1', 'node2');
  await create(harness, 'valued', '900Mi', { priorityClassName: 'low', nodeSelector: at('node1') });
  await create(harness, 'cheap', '900Mi', { nodeSelector: at('node2') });
  await create(harness, 'vip', '900Mi', { priorityClassName: 'high' });
  assert.equal(pod(harness, 'vip')?.status?.nominatedNodeName, 'node2');
  assert.equal(pod(harness, 'valued')?.metadata.deletionTimestamp, undefined);
});

async function keep(harness: Harness, app: string, disruptionsAllowed: number): Promise<void> {
  await harness.client.create(podDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { namespace: 'default', name: app },
    spec: { selector: { matchLabels: { app } } },
  });
  await harness.setStatus(podDisruptionBudgets, app, { disruptionsAllowed });
}

test('what a disruption budget holds goes only where nothing else would do', async (t) => {
  const harness = await started(t, 'node1', 'node2');
  await keep(harness, 'held', 0);
  await keep(harness, 'spare', 1);
  await create(harness, 'held', '900Mi', { nodeSelector: at('node1') });
  // More important, but not held.
  await create(harness, 'spare', '900Mi', { priorityClassName: 'low', nodeSelector: at('node2') });
  await create(harness, 'vip', '900Mi', { priorityClassName: 'high' });
  assert.equal(pod(harness, 'vip')?.status?.nominatedNodeName, 'node2');
  await create(harness, 'vip2', '900Mi', { priorityClassName: 'high' });
  assert.equal(pod(harness, 'vip2')?.status?.nominatedNodeName, 'node1', 'a budget is no wall');
});

test('on one node those that a budget holds stay if others make enough room', async (t) => {
  const harness = await started(t, 'node1');
  await keep(harness, 'held', 0);
  await create(harness, 'held', '400Mi');
  await create(harness, 'free', '400Mi', { priorityClassName: 'low' });
  await create(harness, 'vip', '500Mi', { priorityClassName: 'high' });
  assert.equal(pod(harness, 'held')?.metadata.deletionTimestamp, undefined);
  assert.notEqual(pod(harness, 'free')?.metadata.deletionTimestamp, undefined);
});

const at = (node: string) => ({ 'kubernetes.io/hostname': node });

test('where no pod would have to go, or may, it says so as kube-scheduler does', async (t) => {
  const harness = await started(t, 'node1', 'node2');
  await harness.change(nodes, 'node2', (node) => ({ ...node, spec: { unschedulable: true } }));
  await create(harness, 'first', '900Mi', { priorityClassName: 'low' });
  const available = '0/2 nodes are available: 1 Insufficient memory, 1 node(s) were unschedulable.';
  await create(harness, 'equal', '900Mi', { priorityClassName: 'low' });
  assert.equal(
    message(harness, 'equal'),
    `${available} no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.`,
  );
  await create(harness, 'huge', '9Gi', { priorityClassName: 'high' });
  assert.equal(
    message(harness, 'huge'),
    `${available} no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.`,
  );
  await create(harness, 'polite', '900Mi', { priorityClassName: 'high', preemptionPolicy: 'Never' });
  assert.equal(
    message(harness, 'polite'),
    `${available} no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.`,
  );
  assert.equal(pod(harness, 'first')?.metadata.deletionTimestamp, undefined);
});

test('anti-affinity selects namespaces by their labels', async (t) => {
  const harness = await started(t, 'node1');
  await harness.client.create(namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team', labels: { tier: 'front' } },
  });
  await create(harness, 'web', '1Mi', {}, 'team');
  const apart = (tier: string): Partial<PodSpec> => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          {
            topologyKey: 'kubernetes.io/hostname',
            labelSelector: { matchLabels: { app: 'web' } },
            namespaceSelector: { matchLabels: { tier } },
          },
        ],
      },
    },
  });
  await create(harness, 'a', '1Mi', apart('back'));
  assert.equal(pod(harness, 'a')?.spec?.nodeName, 'node1');
  await create(harness, 'b', '1Mi', apart('front'));
  assert.match(message(harness, 'b') ?? '', /1 node\(s\) didn't match pod anti-affinity rules/);
});
