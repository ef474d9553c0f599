/** What users of KubeVirt have run into, each as it should end. The node agent's part of them is in its own tests. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { VirtualMachine } from '../openapi/generated/types/kubevirt_v1.js';
import { createDisruptionBudgetController } from './disruption-budget/disruption-budget-controller.js';
import { createEvacuationController } from './evacuation/evacuation-controller.js';
import { findCondition } from './runtime/conditions.js';
import { controllerRevisions, pods, virtualMachineInstances, virtualMachines } from './runtime/kinds.js';
import { settle } from './runtime/testing/fake-clock.js';
import { overriding } from './runtime/testing/overriding.js';
import { Harness, guest } from './testing/harness.js';
import { SimulatedNode } from './testing/simulated-node.js';
import { createVirtualMachineInstanceController } from './virtual-machine-instance/virtual-machine-instance-controller.js';
import { createVirtualMachineController } from './virtual-machine/virtual-machine-controller.js';
import { createWorkloadUpdater } from './workload-updater/workload-updater.js';

type Create = Parameters<Harness['start']>[number];
const instances: Create = (deps) =>
  createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' });
const key = { namespace: 'default', name: 'vm' };

async function started(t: TestContext): Promise<{ harness: Harness; node: SimulatedNode }> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start(createVirtualMachineController, instances);
  return { harness, node: new SimulatedNode(harness.client, harness.clock) };
}

async function run(node: SimulatedNode): Promise<void> {
  for (const work of ['bindPods', 'startPods', 'startGuests'] as const) {
    node[work]();
    await settle();
  }
}

test('a VMI whose kernel image can not be pulled says so, and goes when it is deleted', async (t) => {
  const { harness, node } = await started(t);
  const kernelBoot = { container: { image: 'example.org/no-such-kernel', kernelPath: '/vmlinuz' } };
  await harness.createVm({
    template: { spec: { ...guest(), domain: { devices: {}, firmware: { kernelBoot } } } },
  });
  node.bindPods();
  await settle();
  const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image' };
  await harness.setStatus(pods, harness.launcher()?.metadata.name ?? '', {
    phase: 'Pending',
    containerStatuses: [
      { name: 'kernelboot', image: '', imageID: '', ready: false, restartCount: 0, state: { waiting } },
    ],
  });
  await harness.clock.advance(10_000);
  assert.equal(harness.vm()?.status?.printableStatus, 'ImagePullBackOff');
  await harness.client.delete(virtualMachines, key);
  await settle();
  assert.notEqual(harness.launcher()?.metadata.deletionTimestamp, undefined);
  node.finishPods();
  await settle();
  assert.equal(harness.vmi(), undefined);
  assert.equal(harness.vm(), undefined);
});

test('a VMI that runs without a pod fails, and its VM gets a new one', async (t) => {
  const { harness, node } = await started(t);
  await harness.createVm();
  await run(node);
  const first = harness.vmi()?.metadata.uid;
  await harness.removePod();
  await harness.clock.advance(15_000);
  await run(node);
  assert.notEqual(harness.vmi()?.metadata.uid, first);
  assert.equal(harness.vmi()?.status?.phase, 'Running');
});

test('what the node tells of interfaces stands, in its order, and is answered by no write', async (t) => {
  const { harness, node } = await started(t);
  const { domain, ...spec } = guest();
  const interfaces = [
    { name: 'blue', bridge: {} },
    { name: 'default', masquerade: {} },
  ];
  const networks = [
    { name: 'blue', multus: { networkName: 'blue' } },
    { name: 'default', pod: {} },
  ];
  await harness.createVm({
    template: {
      spec: { ...spec, networks, domain: { ...domain, devices: { ...domain.devices, interfaces } } },
    },
  });
  await run(node);
  await harness.clock.advance(5000);
  const writes = harness.client.writes.length;
  const told = [
    { name: 'blue', interfaceName: 'eth0' },
    { name: 'default', interfaceName: 'eth1' },
  ];
  for (const each of [told, [...told].reverse()]) {
    await harness.setStatus(virtualMachineInstances, 'vm', { interfaces: each });
    await harness.clock.advance(600_000);
    assert.deepEqual(harness.vmi()?.status?.interfaces, each);
  }
  assert.equal(harness.client.writes.length, writes);
});

test('restarts and changes of a VM leave no revision but the one that it runs with', async (t) => {
  const { harness, node } = await started(t);
  await harness.createVm();
  for (let turn = 0; turn < 10; turn++) {
    await run(node);
    await harness.change(virtualMachines, 'vm', ({ spec, metadata, status, ...vm }) => ({
      ...vm,
      metadata: { ...metadata, generation: (metadata.generation ?? 0) + 1 },
      spec: { ...spec, template: { spec: { ...guest(), hostname: `h${turn}` } } },
      status: {
        ...status,
        stateChangeRequests: [
          { action: 'Stop', uid: harness.vmi()?.metadata.uid ?? '' },
          { action: 'Start' },
        ],
      },
    }));
    node.finishPods();
    await settle();
  }
  await run(node);
  assert.deepEqual(
    harness.client.all(controllerRevisions).map(({ metadata }) => metadata.name),
    [harness.vmi()?.status?.virtualMachineRevisionName],
  );
});

/** A thousand behave alike, and take a while. */
const many = 300;

test('many VMIs that are deleted at once go without a refused write', async (t) => {
  const harness = new Harness();
  const node = new SimulatedNode(harness.client, harness.clock);
  let refused = 0;
  const counted = <R>(write: Promise<R>): Promise<R> =>
    write.catch((error: unknown) => {
      refused += 1;
      throw error;
    });
  harness.through = (client) =>
    overriding(client, {
      patch: (...call) => counted(client.patch(...call)),
      delete: (...call) => counted(client.delete(...call)),
      create: (...call) => counted(client.create(...call)),
    });
  t.after(() => harness.stop());
  const updater: Create = (deps) => createWorkloadUpdater(deps, 'launcher');
  await harness.start(instances, createDisruptionBudgetController, createEvacuationController, updater);
  const names = Array.from({ length: many }, (_, index) => `vm${index}`);
  for (const name of names)
    await harness.client.create(virtualMachineInstances, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata: { namespace: 'default', name, finalizers: ['kubevirt.io/foregroundDeleteVirtualMachine'] },
      spec: guest(),
    });
  await harness.clock.advance(1000);
  node.bindPods();
  node.startPods();
  await harness.clock.advance(1000);
  assert.ok(names.every((name) => harness.vmi(name)?.status?.phase === 'Scheduled'));
  harness.client.writes.length = 0;
  for (const name of names) await harness.client.delete(virtualMachineInstances, { ...key, name });
  await harness.clock.advance(1000);
  node.finishPods();
  await harness.clock.advance(1000);
  assert.equal(harness.client.all(virtualMachineInstances).length, 0);
  assert.equal(refused, 0);
  assert.ok(harness.client.writes.length <= 4 * names.length, `${harness.client.writes.length} writes`);
});

test('a VM is started by the field that its owner uses, and the other one stays away', async (t) => {
  const table: readonly [Partial<VirtualMachine['spec']>, Partial<VirtualMachine['spec']>][] = [
    [{ running: false }, { running: true }],
    [{ runStrategy: 'Halted' }, { runStrategy: 'Always' }],
  ];
  for (const [halted, wanted] of table) {
    const { harness } = await started(t);
    const { runStrategy, running } = halted;
    await harness.createVm({ runStrategy: 'Halted' });
    await harness.change(virtualMachines, 'vm', ({ spec, status, ...vm }) => {
      const { template } = spec;
      return {
        ...vm,
        spec: {
          template,
          ...(runStrategy === undefined ? {} : { runStrategy }),
          ...(running === undefined ? {} : { running }),
        },
        status: { ...status, stateChangeRequests: [{ action: 'Start' }] },
      };
    });
    await harness.clock.advance(5000);
    const spec = harness.vm()?.spec;
    assert.deepEqual(
      { runStrategy: spec?.runStrategy, running: spec?.running },
      { runStrategy: undefined, running: undefined, ...wanted },
    );
    assert.notEqual(harness.vmi(), undefined);
  }
});

test('a VM that something else gave both fields follows its strategy, and nobody writes them to and fro', async (t) => {
  const { harness, node } = await started(t);
  await harness.createVm({ runStrategy: 'Always', running: false });
  await run(node);
  await harness.clock.advance(5000);
  assert.equal(harness.vm()?.status?.printableStatus, 'Running');
  const writes = harness.client.writes.length;
  await harness.change(virtualMachines, 'vm', (vm) => ({ ...vm, spec: { ...vm.spec, running: true } }));
  await harness.clock.advance(600_000);
  assert.equal(harness.client.writes.length, writes);
});

test('a launcher that is evicted while it starts is followed by another', async (t) => {
  const ways: Readonly<Record<string, (harness: Harness, node: SimulatedNode) => Promise<void>>> = {
    'by the API': async ({ client }, node) => {
      for (const { metadata } of client.all(pods))
        await client.delete(pods, metadata, { gracePeriodSeconds: 30 });
      await settle();
      node.finishPods();
    },
    'by the kubelet': async (harness) => {
      const name = harness.launcher()?.metadata.name ?? '';
      const message = 'The node was low on resource: memory.';
      await harness.setStatus(pods, name, { phase: 'Failed', reason: 'Evicted', message });
      assert.ok(
        harness.events.some((event) => event.reason === 'Evicted' && event.message.includes(message)),
      );
    },
  };
  for (const [way, evict] of Object.entries(ways)) {
    const { harness, node } = await started(t);
    await harness.createVm();
    node.bindPods();
    await settle();
    await evict(harness, node);
    await harness.clock.advance(1000);
    node.finishPods();
    await harness.clock.advance(20_000);
    await run(node);
    await harness.clock.advance(5000);
    assert.equal(harness.vm()?.status?.printableStatus, 'Running', way);
    assert.equal(findCondition(harness.vm()?.status?.conditions, 'Ready')?.status, 'True');
    assert.equal(harness.client.all(pods).length, 1);
  }
});
