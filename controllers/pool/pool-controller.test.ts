import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type {
  VirtualMachinePool,
  VirtualMachinePoolSelectors,
} from '../../openapi/generated/types/kubevirt_pool_v1beta1.js';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { findCondition } from '../runtime/conditions.js';
import {
  controllerRevisions,
  persistentVolumeClaims,
  virtualMachineInstances,
  virtualMachinePools,
  virtualMachines,
} from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { statusError } from '../runtime/testing/status-error.js';
import { Harness, guest } from '../testing/harness.js';
import { UnreliableWay } from '../testing/unreliable-client.js';
import { createVirtualMachineController } from '../virtual-machine/virtual-machine-controller.js';
import { createPoolController } from './pool-controller.js';

type Spec = VirtualMachinePool['spec'];

/** Templates have no identity, though their type knows the fields. */
const unnamed = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' };
const labels = { app: 'web' };
const revisionLabel = 'kubevirt.io/vm-pool-revision-name';

function template(change: Partial<VirtualMachine['spec']> = {}): Spec['virtualMachineTemplate'] {
  return {
    metadata: { ...unnamed, labels },
    spec: { runStrategy: 'Always', template: { spec: guest() }, ...change },
  };
}

function withMemory(size: string): Spec['virtualMachineTemplate'] {
  const spec = guest();
  return template({ template: { spec: { ...spec, domain: { ...spec.domain, memory: { guest: size } } } } });
}

async function create(harness: Harness, spec: Partial<Spec> = {}): Promise<void> {
  await harness.client.create(virtualMachinePools, {
    apiVersion: 'pool.kubevirt.io/v1beta1',
    kind: 'VirtualMachinePool',
    metadata: { namespace: 'default', name: 'web' },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      virtualMachineTemplate: template(),
      ...spec,
    },
  });
  await settle();
}

async function started(t: TestContext, spec: Partial<Spec> = {}): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start(createPoolController, createVirtualMachineController);
  await create(harness, spec);
  await settle();
  return harness;
}

const pool = (harness: Harness): VirtualMachinePool | undefined =>
  harness.client.find(virtualMachinePools, { namespace: 'default', name: 'web' });

const names = (harness: Harness): string[] =>
  harness.client
    .all(virtualMachines)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name);

const revisions = (harness: Harness): string[] =>
  harness.client.all(controllerRevisions).map(({ metadata }) => metadata.name);

const memoryOf = (harness: Harness, name: string): unknown => harness.vmi(name)?.spec.domain.memory?.guest;

async function respec(harness: Harness, change: Partial<Spec>): Promise<void> {
  await harness.change(virtualMachinePools, 'web', (each) => ({
    ...each,
    metadata: { ...each.metadata, generation: (each.metadata.generation ?? 0) + 1 },
    spec: { ...each.spec, ...change },
  }));
  await settle();
}

async function runAll(harness: Harness): Promise<void> {
  for (const { metadata } of harness.client.all(virtualMachineInstances))
    if (metadata.deletionTimestamp === undefined) await harness.startGuest(metadata.name);
  await settle();
}

/** Those that are to end have ended. */
async function endAll(harness: Harness): Promise<void> {
  for (const { metadata } of harness.client.all(virtualMachineInstances))
    if (metadata.deletionTimestamp !== undefined) harness.client.remove(virtualMachineInstances, metadata);
  await settle();
  await settle();
}

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

test('a new template reaches VMs at once, and instances no faster than VMs may be down', async (t) => {
  const harness = await started(t, { maxUnavailable: 1 });
  await runAll(harness);
  await respec(harness, { virtualMachineTemplate: withMemory('256Mi') });
  for (const name of names(harness))
    assert.equal(harness.vm(name)?.spec.template.spec?.domain.memory?.guest, '256Mi');
  for (let updated = 1; updated <= 3; updated++) {
    const ending = harness.client
      .all(virtualMachineInstances)
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
    assert.equal(ending.length, 1);
    await endAll(harness);
    assert.equal(names(harness).filter((name) => memoryOf(harness, name) === '256Mi').length, updated);
    await runAll(harness);
  }
  assert.deepEqual(revisions(harness), ['web-2']);
  assert.equal(harness.vmi('web-0')?.metadata.labels?.[revisionLabel], 'web-2');
});

test('what does not serve is restarted at once; what its user has stopped holds up nothing', async (t) => {
  const harness = await started(t, { maxUnavailable: 1, virtualMachineTemplate: withMemory('broken') });
  await harness.startGuest('web-0');
  await respec(harness, { virtualMachineTemplate: withMemory('256Mi') });
  const ending = (): string[] =>
    harness.client
      .all(virtualMachineInstances)
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
      .map(({ metadata }) => metadata.name);
  assert.deepEqual(ending(), ['web-1', 'web-2']);
  await harness.change(virtualMachines, 'web-1', (vm) => ({
    ...vm,
    spec: { ...vm.spec, runStrategy: 'Halted' },
  }));
  await endAll(harness);
  await harness.startGuest('web-2');
  await settle();
  assert.deepEqual(ending(), ['web-0']);
});

test('while the end of an instance is not seen, none but it is given up', async (t) => {
  const harness = new Harness();
  const way = new UnreliableWay(virtualMachines);
  harness.through = way.through;
  t.after(async () => {
    way.release();
    await harness.stop();
  });
  await harness.start(createPoolController, createVirtualMachineController);
  const inOrder = (sortPolicy: 'AscendingOrder' | 'DescendingOrder'): Partial<Spec> => ({
    updateStrategy: { proactive: { selectionPolicy: { sortPolicy } } },
  });
  await create(harness, { maxUnavailable: 1, ...inOrder('AscendingOrder') });
  await runAll(harness);
  way.hold(virtualMachineInstances);
  await respec(harness, { virtualMachineTemplate: withMemory('256Mi') });
  await respec(harness, inOrder('DescendingOrder'));
  const deleted = harness.client.writes.filter(
    ({ verb, resource }) => verb === 'delete' && resource === 'virtualmachineinstances',
  );
  assert.deepEqual(
    deleted.map(({ key }) => key),
    ['default/web-0'],
  );
});

test('a change of the VM’s own fields restarts nothing, and what others have added to a VM stays', async (t) => {
  const harness = await started(t);
  await runAll(harness);
  await harness.change(virtualMachines, 'web-0', (vm) => ({
    ...vm,
    metadata: { ...vm.metadata, labels: { ...vm.metadata.labels, team: 'a' } },
    spec: {
      ...vm.spec,
      template: {
        ...vm.spec.template,
        spec: {
          ...guest(),
          domain: { ...guest().domain, firmware: { uuid: 'identity' } },
        },
      },
    },
  }));
  await respec(harness, { virtualMachineTemplate: template({ runStrategy: 'RerunOnFailure' }) });
  const vm = harness.vm('web-0');
  assert.equal(vm?.spec.runStrategy, 'RerunOnFailure');
  assert.equal(vm.metadata.labels?.team, 'a');
  assert.equal(vm.spec.template.spec?.domain.firmware?.uuid, 'identity');
  assert.ok(
    harness.client
      .all(virtualMachineInstances)
      .every(({ metadata }) => metadata.deletionTimestamp === undefined),
  );
  // The instances still show the old one.
  assert.deepEqual(revisions(harness), ['web-1', 'web-2']);
});

test('a pool that goes back to its former template gets its former revision back', async (t) => {
  const harness = await started(t, { updateStrategy: { opportunistic: {} } });
  await runAll(harness);
  await respec(harness, { virtualMachineTemplate: withMemory('256Mi') });
  assert.equal(harness.vm('web-0')?.metadata.labels?.[revisionLabel], 'web-2');
  await respec(harness, { virtualMachineTemplate: template() });
  assert.equal(harness.vm('web-0')?.metadata.labels?.[revisionLabel], 'web-1');
  assert.deepEqual(revisions(harness), ['web-1']);
});

test('opportunistic: instances stay as they are. Unmanaged: VMs do too', async (t) => {
  const harness = await started(t, { updateStrategy: { unmanaged: {} } });
  await runAll(harness);
  await respec(harness, { virtualMachineTemplate: withMemory('256Mi') });
  assert.equal(harness.vm('web-0')?.spec.template.spec?.domain.memory?.guest, '128Mi');
  await respec(harness, { updateStrategy: { opportunistic: {} } });
  assert.equal(harness.vm('web-0')?.spec.template.spec?.domain.memory?.guest, '256Mi');
  assert.equal(memoryOf(harness, 'web-0'), '128Mi');
  await harness.client.delete(virtualMachineInstances, { namespace: 'default', name: 'web-0' });
  await endAll(harness);
  assert.equal(memoryOf(harness, 'web-0'), '256Mi');
});

test('a VM that does not make its instances itself is restarted by request', async (t) => {
  const harness = await started(t, { virtualMachineTemplate: template({ runStrategy: 'RerunOnFailure' }) });
  await runAll(harness);
  const asked: string[] = [];
  harness.client.beforeWrite = ({ verb, subresource, key }) => {
    if (verb !== 'post' || subresource !== 'restart') return;
    const name = key.slice(key.indexOf('/') + 1);
    asked.push(name);
    harness.client.put(virtualMachineInstances, { namespace: 'default', name }, (vmi) => ({
      ...vmi,
      metadata: { ...vmi.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' },
    }));
  };
  const change = withMemory('256Mi');
  await respec(harness, {
    virtualMachineTemplate: {
      ...change,
      spec: { template: {}, ...change.spec, runStrategy: 'RerunOnFailure' },
    },
  });
  assert.deepEqual(asked.sort(), ['web-0', 'web-1', 'web-2']);
});

test('VMs with new disks in their template are made anew', async (t) => {
  const disks = (size: string): Spec['virtualMachineTemplate'] =>
    template({
      dataVolumeTemplates: [
        {
          apiVersion: 'cdi.kubevirt.io/v1beta1',
          kind: 'DataVolume',
          metadata: { ...unnamed, name: 'disk' },
          spec: { storage: { resources: { requests: { storage: size } } } },
        },
      ],
      template: { spec: { ...guest(), volumes: [{ name: 'root', dataVolume: { name: 'disk' } }] } },
    });
  const harness = await started(t, { replicas: 1, virtualMachineTemplate: disks('1Gi') });
  assert.equal(harness.vm('web-0')?.spec.dataVolumeTemplates?.[0]?.metadata.name, 'disk-0');
  assert.equal(harness.vm('web-0')?.spec.template.spec?.volumes?.[0]?.dataVolume?.name, 'disk-0');
  await runAll(harness);
  await respec(harness, { virtualMachineTemplate: disks('2Gi') });
  const { metadata } = harness.vm('web-0') ?? {};
  assert.ok(metadata?.deletionTimestamp !== undefined);
  assert.ok(metadata.finalizers?.includes('foregroundDeletion'));
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
