import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Node } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { timestamp } from '../runtime/clock.js';
import { findCondition } from '../runtime/conditions.js';
import { kubeVirts, nodes, pods, virtualMachineInstances, virtualMachines } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { Harness, guest } from '../testing/harness.js';
import { createVirtualMachineInstanceController } from '../virtual-machine-instance/virtual-machine-instance-controller.js';
import { createVirtualMachineController } from '../virtual-machine/virtual-machine-controller.js';
import { createNodeController } from './node-controller.js';

const minute = 60_000;
const heartbeat = (now: number) => ({ 'kubevirt.io/heartbeat': timestamp(now) });
const fastFailover = { 'nativirt.io/fast-failover': 'true' };

async function running(t: TestContext, annotations: Record<string, string> = {}): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.createNode();
  beat(harness);
  await harness.start(createNodeController, createVirtualMachineController, (deps) =>
    createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' }),
  );
  const metadata = { annotations } as VirtualMachine['metadata'];
  await harness.createVm({ template: { metadata, spec: guest() } });
  await harness.bindAndRun();
  await harness.startGuest();
  return harness;
}

function beat(harness: Harness): void {
  harness.client.put(nodes, { name: 'node1' }, (node) => ({
    ...node,
    metadata: { ...node.metadata, annotations: heartbeat(harness.clock.now()) },
  }));
}

const node = (harness: Harness): Node | undefined => harness.client.find(nodes, { name: 'node1' });
const schedulable = (harness: Harness): string | undefined =>
  node(harness)?.metadata.labels?.['kubevirt.io/schedulable'];
const ready = (harness: Harness) => findCondition(harness.vmi()?.status?.conditions, 'Ready');

async function loseKubelet(harness: Harness): Promise<void> {
  await harness.setStatus(nodes, 'node1', { conditions: [{ type: 'Ready', status: 'Unknown' }] });
}

async function taintOutOfService(harness: Harness): Promise<void> {
  const taints = [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }];
  await harness.change(nodes, 'node1', (each) => ({ ...each, spec: { taints } }) as Node);
}

test('while its agent reports, nothing is written of a node or its instances', async (t) => {
  const harness = await running(t);
  const before = harness.client.writes.length;
  for (let passed = 0; passed < 20; passed++) {
    beat(harness);
    await harness.clock.advance(minute);
  }
  assert.equal(harness.client.writes.length, before);
});

test('a node whose agent is silent takes no more VMs, and its instances say that nobody knows', async (t) => {
  const harness = await running(t);
  await harness.clock.advance(4.9 * minute);
  assert.equal(schedulable(harness), 'true');
  await harness.clock.advance(0.2 * minute);
  assert.equal(schedulable(harness), 'false');
  assert.equal(ready(harness)?.status, 'Unknown');
  assert.equal(ready(harness)?.reason, 'NodeUnresponsive');
  assert.equal(harness.vmi()?.status?.phase, 'Running');
  const before = harness.client.writes.length;
  await harness.clock.advance(60 * minute);
  assert.equal(harness.client.writes.length, before, 'silence is no proof');
  assert.equal(harness.client.all(pods).length, 1);
});

test('an agent that says otherwise is not contradicted in the same silence, but in the next', async (t) => {
  const harness = await running(t);
  await harness.clock.advance(6 * minute);
  await harness.startGuest();
  await harness.clock.advance(minute);
  assert.equal(ready(harness)?.status, 'True');
  beat(harness);
  await harness.clock.advance(6 * minute);
  assert.equal(ready(harness)?.status, 'Unknown');
});

test('an instance on a silent node fails when its pod has ended or is gone, and is started elsewhere', async (t) => {
  const harness = await running(t);
  await harness.clock.advance(6 * minute);
  const before = harness.vmi()?.metadata.uid;
  await harness.removePod();
  assert.notEqual(harness.vmi()?.metadata.uid, before);
  assert.ok(
    harness.events.some(({ message }) => message.includes('node node1 is silent, and the launcher pod')),
  );
  assert.equal(harness.client.all(pods).length, 1);
});

test('a fenced node does not hurry instances that did not ask for it', async (t) => {
  const harness = await running(t);
  await loseKubelet(harness);
  await taintOutOfService(harness);
  await harness.clock.advance(10 * minute);
  assert.equal(harness.vmi()?.status?.phase, 'Running');
});

test('fast failover waits for the proof, and for the silence of the agent', async (t) => {
  const harness = await running(t, fastFailover);
  await loseKubelet(harness);
  await harness.clock.advance(10 * minute);
  assert.equal(harness.vmi()?.status?.phase, 'Running', 'there is no proof');
  const first = harness.vmi()?.metadata.uid;
  await taintOutOfService(harness);
  assert.notEqual(harness.vmi()?.metadata.uid, first, 'the VM has a new instance');
  assert.equal(harness.client.all(pods).length, 1);
  assert.equal(harness.launcher()?.spec?.nodeName, undefined);
});

test('the taint alone proves nothing while kubelet or agent are heard', async (t) => {
  const harness = await running(t, fastFailover);
  await taintOutOfService(harness);
  await harness.clock.advance(10 * minute);
  assert.equal(harness.vmi()?.status?.phase, 'Running', 'the node calls itself ready');
  beat(harness);
  await settle();
  await loseKubelet(harness);
  for (let passed = 0; passed < 5; passed++) {
    beat(harness);
    await harness.clock.advance(minute);
  }
  assert.equal(harness.vmi()?.status?.phase, 'Running', 'its agent reports');
  await harness.clock.advance(2 * minute);
  assert.equal(
    harness.client.find(virtualMachineInstances, { namespace: 'default', name: 'vm' })?.status?.phase,
    'Scheduling',
  );
});

test('a deleted node is a proof when it has stayed away; the KubeVirt object can ask for all', async (t) => {
  const harness = await running(t);
  await harness.client.create(kubeVirts, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { namespace: 'kubevirt', name: 'kubevirt', annotations: fastFailover },
    spec: {},
  });
  const first = harness.vmi()?.metadata.uid;
  harness.client.remove(nodes, { name: 'node1' });
  await harness.clock.advance(39_000);
  assert.equal(harness.vmi()?.metadata.uid, first);
  await harness.createNode();
  await harness.clock.advance(2 * minute);
  assert.equal(harness.vmi()?.metadata.uid, first, 'it registered again');
  harness.client.remove(nodes, { name: 'node1' });
  await harness.clock.advance(41_000);
  assert.notEqual(harness.vmi()?.metadata.uid, first);
});

test('a VM whose run strategy does not restart it shows the lost instance', async (t) => {
  const harness = await running(t, fastFailover);
  await harness.change(virtualMachines, 'vm', (vm) => ({
    ...vm,
    spec: { ...vm.spec, runStrategy: 'Manual' },
  }));
  await loseKubelet(harness);
  await taintOutOfService(harness);
  await harness.clock.advance(2 * minute);
  const { phase, reason } = harness.vmi()?.status ?? {};
  assert.deepEqual([phase, reason], ['Failed', 'NodeUnresponsive']);
  assert.match(ready(harness)?.message ?? '', /tainted node\.kubernetes\.io\/out-of-service/);
  assert.equal(harness.client.all(pods).length, 0);
});
