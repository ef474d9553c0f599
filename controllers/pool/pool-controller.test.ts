import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachinePoolSelectors } from '../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import { findCondition } from '../runtime/conditions.js';
import {
  persistentVolumeClaims,
  virtualMachineInstances,
  virtualMachinePools,
  virtualMachines,
} from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { statusError } from '../runtime/testing/status-error.js';
import { Harness, guest } from '../testing/harness.js';
import { createPoolController } from './pool-controller.js';
import {
  unnamed,
  revisionLabel,
  template,
  create,
  started,
  pool,
  names,
  revisions,
  respec,
  runAll,
  endAll,
} from './testing/pool.js';

test('VMs get numbers, the pool’s labels and the name of the revision they were made from', async (t) => {
  const harness = await started(t);
  assert.deepEqual(names(harness), ['web-0', 'web-1', 'web-2']);
  const vm = harness.vm('web-0');
  assert.deepEqual(vm?.metadata.labels, { app: 'web', [revisionLabel]: 'web-1' });
  assert.equal(vm.spec.template.metadata?.labels?.[revisionLabel], 'web-1');
  assert.deepEqual(vm.metadata.finalizers, [
    'kubevirt.io/virtualMachineControllerFinalize',
    'pool.kubevirt.io/finalizer',
  ]);
  assert.equal(vm.metadata.ownerReferences?.[0]?.uid, pool(harness)?.metadata.uid);
  assert.equal(harness.vmi('web-0')?.metadata.labels?.[revisionLabel], 'web-1');
  assert.deepEqual(revisions(harness), ['web-1']);
  assert.equal(harness.reasons.filter((reason) => reason === 'SuccessfulCreate').length, 6);
});

test('the status counts VMs and those that are ready', async (t) => {
  const harness = await started(t);
  assert.deepEqual(pool(harness)?.status, { labelSelector: 'app=web', readyReplicas: 0, replicas: 3 });
  assert.deepEqual(harness.writesOf(virtualMachinePools), ['create', 'patch/status']);
  await runAll(harness);
  assert.equal(pool(harness)?.status?.readyReplicas, 3);
});

test('scaled in, VMs go in the order that is asked for; scaled out, the lowest free numbers are used', async (t) => {
  const selectionPolicy = { sortPolicy: 'DescendingOrder' } as const;
  const harness = await started(t, { scaleInStrategy: { proactive: { selectionPolicy } } });
  await runAll(harness);
  await respec(harness, { replicas: 1 });
  assert.deepEqual(names(harness), ['web-0']);
  await endAll(harness);
  assert.equal(harness.client.all(virtualMachines).length, 1);
  await harness.client.create(virtualMachines, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace: 'default', name: 'web-1' },
    spec: { runStrategy: 'Halted', template: { spec: guest() } },
  });
  await respec(harness, { replicas: 3 });
  assert.deepEqual(names(harness), ['web-0', 'web-1', 'web-2', 'web-3']);
});

test('chosen VMs go first, by their labels or by their nodes; without a policy those that are not ready', async (t) => {
  const harness = await started(t);
  for (const name of ['web-0', 'web-2']) await harness.startGuest(name);
  await settle();
  await respec(harness, { replicas: 2 });
  assert.deepEqual(names(harness), ['web-0', 'web-2']);
  await harness.createNode('node1', { metadata: { ...unnamed, name: 'node1', labels: { zone: 'b' } } });
  await harness.setStatus(virtualMachineInstances, 'web-2', { nodeName: 'node1' });
  const selectors: VirtualMachinePoolSelectors = {
    nodeSelectorRequirementMatcher: [{ key: 'zone', operator: 'In', values: ['b'] }],
  };
  await respec(harness, {
    replicas: 1,
    scaleInStrategy: { proactive: { selectionPolicy: { sortPolicy: 'AscendingOrder', selectors } } },
  });
  assert.deepEqual(names(harness), ['web-0']);
});

test('unmanaged: none is removed. Opportunistic: only those that are stopped', async (t) => {
  const harness = await started(t, { scaleInStrategy: { unmanaged: {} } });
  await respec(harness, { replicas: 1 });
  assert.equal(names(harness).length, 3);
  await respec(harness, { scaleInStrategy: { opportunistic: {} } });
  assert.equal(names(harness).length, 3);
  await harness.change(virtualMachines, 'web-1', (vm) => ({
    ...vm,
    spec: { ...vm.spec, runStrategy: 'Halted' },
  }));
  await endAll(harness);
  assert.deepEqual(names(harness), ['web-0', 'web-2']);
});

test('disks outlive a VM that is scaled in if the pool says so', async (t) => {
  const volumes = [{ name: 'root', persistentVolumeClaim: { claimName: 'disk' } }];
  for (const [statePreservation, kept] of [
    ['Offline', true],
    ['Disabled', false],
  ] as const) {
    const harness = await started(t, {
      replicas: 1,
      scaleInStrategy: { proactive: { statePreservation } },
      virtualMachineTemplate: template({ template: { spec: { ...guest(), volumes } } }),
    });
    const vm = harness.vm('web-0');
    await harness.client.create(persistentVolumeClaims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        namespace: 'default',
        name: 'disk',
        ownerReferences: [
          {
            apiVersion: 'kubevirt.io/v1',
            kind: 'VirtualMachine',
            name: 'web-0',
            uid: vm?.metadata.uid ?? '',
          },
        ],
      },
      spec: {},
    });
    await settle();
    await respec(harness, { replicas: 0 });
    const claim = harness.client.find(persistentVolumeClaims, { namespace: 'default', name: 'disk' });
    assert.equal(claim?.metadata.ownerReferences === undefined, kept);
    assert.deepEqual(harness.vm('web-0')?.metadata.finalizers, [
      'kubevirt.io/virtualMachineControllerFinalize',
    ]);
    await endAll(harness);
    assert.equal(harness.vm('web-0'), undefined);
  }
});

test('a VM that never starts is replaced, if the pool heals itself', async (t) => {
  const harness = await started(t, { replicas: 2, autohealing: { minFailingToStartDuration: '2m' } });
  const before = harness.vm('web-0')?.metadata.uid;
  await harness.setStatus(virtualMachines, 'web-1', { startFailure: { consecutiveFailCount: 2 } });
  await harness.setStatus(virtualMachineInstances, 'web-0', {
    conditions: [
      { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' },
      { type: 'Ready', status: 'False', reason: 'GuestNotRunning' },
    ],
  });
  assert.equal(harness.vm('web-0')?.status?.printableStatus, 'ErrorUnschedulable');
  await harness.clock.advance(119_000);
  assert.equal(harness.vm('web-0')?.metadata.deletionTimestamp, undefined);
  await harness.clock.advance(2000);
  assert.ok(harness.vm('web-0')?.metadata.deletionTimestamp !== undefined);
  // Its disks go with it, which the garbage collector sees to.
  await harness.change(virtualMachines, 'web-0', (vm) => ({
    ...vm,
    metadata: {
      ...vm.metadata,
      finalizers: (vm.metadata.finalizers ?? []).filter((each) => each !== 'foregroundDeletion'),
    },
  }));
  await endAll(harness);
  assert.notEqual(harness.vm('web-0')?.metadata.uid, before);
  assert.deepEqual(names(harness), ['web-0', 'web-1']);
});

test('paused: VMs are left alone until it goes on', async (t) => {
  const harness = await started(t, { paused: true });
  assert.deepEqual(names(harness), []);
  assert.equal(findCondition(pool(harness)?.status?.conditions, 'ReplicaPaused')?.status, 'True');
  await respec(harness, { paused: false });
  assert.equal(names(harness).length, 3);
  assert.equal(pool(harness)?.status?.conditions, undefined);
  assert.ok(harness.reasons.includes('SuccessfulPaused'));
  assert.ok(harness.reasons.includes('SuccessfulResume'));
});

test('a refused creation shows in the status, and is tried again', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  let full = true;
  harness.client.beforeWrite = ({ verb, resource }) => {
    if (full && verb === 'create' && resource === 'virtualmachines')
      throw statusError('Forbidden', virtualMachines, 'web-0', 'exceeded quota');
  };
  await harness.start(createPoolController);
  await create(harness);
  const failure = findCondition(pool(harness)?.status?.conditions, 'ReplicaFailure');
  assert.equal(failure?.reason, 'FailedScaleOut');
  assert.equal(failure.message, 'exceeded quota');
  full = false;
  await harness.clock.advance(60_000);
  assert.equal(names(harness).length, 3);
  assert.equal(pool(harness)?.status?.conditions, undefined);
});

test('a VM leaves the pool by its labels or by losing its owner, and another takes its place', async (t) => {
  const harness = await started(t, { replicas: 2 });
  await harness.change(virtualMachines, 'web-0', (vm) => ({
    ...vm,
    metadata: { ...vm.metadata, labels: { app: 'debug' } },
  }));
  await harness.change(virtualMachines, 'web-1', (vm) => ({
    ...vm,
    metadata: { ...vm.metadata, ownerReferences: [] },
  }));
  await settle();
  assert.deepEqual(names(harness), ['web-0', 'web-1', 'web-2', 'web-3']);
  for (const name of ['web-0', 'web-1']) {
    assert.equal(harness.vm(name)?.metadata.ownerReferences?.length ?? 0, 0);
    assert.deepEqual(harness.vm(name)?.metadata.finalizers, ['kubevirt.io/virtualMachineControllerFinalize']);
  }
});

test('with the pool gone, its VMs can go', async (t) => {
  const harness = await started(t, { replicas: 1 });
  await harness.client.delete(virtualMachinePools, { namespace: 'default', name: 'web' });
  await settle();
  await harness.client.delete(virtualMachines, { namespace: 'default', name: 'web-0' });
  await settle();
  await endAll(harness);
  assert.equal(harness.vm('web-0'), undefined);
});

test('at rest nothing is written', async (t) => {
  const harness = await started(t);
  await runAll(harness);
  harness.client.writes.length = 0;
  await harness.clock.advance(120_000);
  assert.deepEqual(harness.client.writes, []);
  assert.deepEqual(harness.logger.problems, []);
});
