import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { findCondition } from '../runtime/conditions.js';
import { persistentVolumeClaims, virtualMachineInstances, virtualMachines } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { statusError } from '../runtime/testing/status-error.js';
import { Harness, guest } from '../testing/harness.js';
import { passingPatience } from './passing.js';
import { createVirtualMachineController } from './virtual-machine-controller.js';

async function started(t: TestContext, spec: Partial<VirtualMachine['spec']> = {}): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start(createVirtualMachineController);
  await harness.createVm(spec);
  return harness;
}

/** Templates have no identity, though their type knows the fields. */
const unnamed = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' };
const key = { namespace: 'default', name: 'vm' };

/** The VMI controller and the node have done their part. */
async function letGo(harness: Harness): Promise<void> {
  harness.client.remove(virtualMachineInstances, key);
  await settle();
}

async function running(harness: Harness): Promise<void> {
  await harness.startGuest();
}

test('the instance carries what the template says, and whose it is', async (t) => {
  const template = {
    metadata: { ...unnamed, labels: { app: 'web' }, annotations: { note: 'x' } },
    spec: guest(),
  };
  const harness = await started(t, { template });
  const vmi = harness.vmi();
  const vm = harness.vm();
  assert.deepEqual(vmi?.metadata.labels, { app: 'web' });
  assert.equal(vmi.metadata.annotations?.note, 'x');
  assert.equal(vmi.metadata.annotations['kubevirt.io/vm-generation'], '1');
  assert.deepEqual(vmi.metadata.finalizers, ['kubevirt.io/foregroundDeleteVirtualMachine']);
  assert.deepEqual(vmi.metadata.ownerReferences, [
    {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      name: 'vm',
      uid: vm?.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
  assert.equal(vmi.spec.domain.firmware?.uuid, vm?.metadata.uid);
});

test('a running VM shows its instance in its status', async (t) => {
  const harness = await started(t);
  await harness.clock.advance(passingPatience);
  assert.deepEqual(
    { ...harness.vm()?.status, conditions: undefined },
    {
      created: true,
      runStrategy: 'Always',
      printableStatus: 'Starting',
      desiredGeneration: 1,
      observedGeneration: 1,
      conditions: undefined,
    },
  );
  await running(harness);
  const { status } = harness.vm() ?? {};
  assert.equal(status?.ready, true);
  assert.equal(status.printableStatus, 'Running');
  assert.equal(findCondition(status.conditions, 'Ready')?.status, 'True');
  assert.deepEqual(harness.reasons, ['SuccessfulCreate']);
});

test('conditions of the instance are copied, and go with it', async (t) => {
  const harness = await started(t, { runStrategy: 'Manual' });
  await harness.setStatus(virtualMachines, 'vm', { stateChangeRequests: [{ action: 'Start' }] });
  await harness.setStatus(virtualMachineInstances, 'vm', {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Paused', status: 'True', reason: 'PausedByUser' },
    ],
  });
  assert.equal(findCondition(harness.vm()?.status?.conditions, 'Paused')?.reason, 'PausedByUser');
  assert.equal(harness.vm()?.status?.printableStatus, 'Paused');
  await letGo(harness);
  assert.deepEqual(
    harness.vm()?.status?.conditions?.map(({ type, status, reason }) => ({ type, status, reason })),
    [{ type: 'Ready', status: 'False', reason: 'VMINotExists' }],
  );
});

test('Halted: no instance is made, and one that is there goes', async (t) => {
  const harness = await started(t, { runStrategy: 'Halted' });
  assert.equal(harness.vmi(), undefined);
  assert.equal(harness.vm()?.status?.printableStatus, 'Stopped');
  await harness.change(virtualMachines, 'vm', (vm) => ({
    ...vm,
    spec: { ...vm.spec, runStrategy: 'Always' },
  }));
  assert.ok(harness.vmi());
  await running(harness);
  await harness.change(virtualMachines, 'vm', (vm) => ({
    ...vm,
    spec: { ...vm.spec, runStrategy: 'Halted' },
  }));
  assert.ok(harness.vmi()?.metadata.deletionTimestamp);
  await harness.clock.advance(passingPatience);
  assert.equal(harness.vm()?.status?.printableStatus, 'Stopping');
  assert.equal(harness.vm()?.status?.ready, undefined);
  await letGo(harness);
  assert.equal(harness.vm()?.status?.printableStatus, 'Stopped');
  assert.equal(harness.vm()?.status?.created, undefined);
});

test('a start or stop that is done in a moment is told once, by its end', async (t) => {
  const harness = await started(t);
  await harness.clock.advance(passingPatience - 1);
  assert.equal(harness.vm()?.status, undefined);
  await running(harness);
  assert.deepEqual(harness.writesOf(virtualMachines), ['create', 'patch/status']);
  await harness.change(virtualMachines, 'vm', (vm) => ({
    ...vm,
    spec: { ...vm.spec, runStrategy: 'Halted' },
  }));
  await harness.endGuest('Succeeded');
  await letGo(harness);
  await harness.clock.advance(60_000);
  assert.equal(harness.vm()?.status?.printableStatus, 'Stopped');
  assert.deepEqual(harness.writesOf(virtualMachines), ['create', 'patch/status', 'patch/status']);
});

test('Halted and asked to start: the strategy becomes Always', async (t) => {
  const harness = await started(t, { runStrategy: 'Halted' });
  await harness.setStatus(virtualMachines, 'vm', {
    stateChangeRequests: [{ action: 'Start', data: { paused: 'true' } }],
  });
  assert.equal(harness.vm()?.spec.runStrategy, 'Always');
  assert.equal(harness.vmi()?.spec.startStrategy, 'Paused');
  assert.equal(harness.vm()?.status?.stateChangeRequests, undefined);
});

test('a restart stops this instance and starts another, and then is done', async (t) => {
  const harness = await started(t);
  await running(harness);
  const uid = harness.vmi()?.metadata.uid ?? '';
  await harness.setStatus(virtualMachines, 'vm', {
    stateChangeRequests: [{ action: 'Stop', uid }, { action: 'Start' }],
  });
  assert.ok(harness.vmi()?.metadata.deletionTimestamp);
  assert.equal(harness.vm()?.status?.stateChangeRequests?.length, 2);
  await letGo(harness);
  const next = harness.vmi();
  assert.notEqual(next?.metadata.uid, uid);
  assert.equal(next?.metadata.deletionTimestamp, undefined);
  assert.equal(harness.vm()?.status?.stateChangeRequests, undefined);
});

test('a request to stop an instance that is long gone does nothing', async (t) => {
  const harness = await started(t);
  await running(harness);
  await harness.setStatus(virtualMachines, 'vm', { stateChangeRequests: [{ action: 'Stop', uid: 'older' }] });
  assert.equal(harness.vmi()?.metadata.deletionTimestamp, undefined);
  assert.equal(harness.vm()?.status?.stateChangeRequests, undefined);
});

test('Always: a guest that shuts down is started again', async (t) => {
  const harness = await started(t);
  await running(harness);
  const uid = harness.vmi()?.metadata.uid;
  await harness.endGuest('Succeeded');
  assert.ok(harness.vmi()?.metadata.deletionTimestamp);
  await letGo(harness);
  assert.notEqual(harness.vmi()?.metadata.uid, uid);
});

test('RerunOnFailure: a guest that fails comes again, one that shuts down does not', async (t) => {
  const harness = await started(t, { runStrategy: 'RerunOnFailure' });
  await running(harness);
  await harness.endGuest('Failed');
  const uid = harness.vmi()?.metadata.uid;
  assert.deepEqual(harness.vm()?.status?.stateChangeRequests, [{ action: 'Stop', uid }, { action: 'Start' }]);
  await letGo(harness);
  assert.ok(harness.vmi(), 'it is started again');
  await running(harness);
  await harness.endGuest('Succeeded');
  assert.equal(harness.vmi()?.metadata.deletionTimestamp, undefined);
  assert.equal(harness.vm()?.status?.printableStatus, 'Stopped');
  await letGo(harness);
  assert.equal(harness.vmi(), undefined);
});

test('RerunOnFailure: the restart is not forgotten if the controller ends in the middle of it', async (t) => {
  const harness = await started(t, { runStrategy: 'RerunOnFailure' });
  await running(harness);
  const before = harness.client.writes.length;
  harness.killAfter(1);
  await harness.endGuest('Failed');
  assert.equal(harness.client.writes.length, before + 1);
  await letGo(harness);
  await harness.start(createVirtualMachineController);
  assert.ok(harness.vmi());
});

test('Once: a guest that has ended stays ended', async (t) => {
  const harness = await started(t, { runStrategy: 'Once' });
  await running(harness);
  await harness.endGuest('Failed');
  await harness.clock.advance(600_000);
  assert.equal(harness.vmi()?.metadata.deletionTimestamp, undefined);
});

test('a guest that fails before it ran is started again after 10, 40, 90 … seconds', async (t) => {
  const harness = await started(t);
  for (const [failures, seconds] of [
    [1, 10],
    [2, 40],
    [3, 90],
  ] as const) {
    await harness.endGuest('Failed');
    assert.equal(harness.vm()?.status?.printableStatus, 'CrashLoopBackOff');
    assert.equal(harness.vm()?.status?.startFailure?.consecutiveFailCount, failures);
    await letGo(harness);
    await harness.clock.advance((seconds - 1) * 1000);
    assert.equal(harness.vmi(), undefined, `${seconds} s after failure ${failures}`);
    await harness.clock.advance(1000);
    assert.ok(harness.vmi());
  }
  await running(harness);
  assert.equal(harness.vm()?.status?.startFailure, undefined);
});

test('the delay of a crash loop outlives the controller', async (t) => {
  const harness = await started(t);
  await harness.endGuest('Failed');
  await letGo(harness);
  await harness.stop();
  await harness.start(createVirtualMachineController);
  await harness.clock.advance(9000);
  assert.equal(harness.vmi(), undefined);
  await harness.clock.advance(1000);
  assert.ok(harness.vmi());
});

test('a changed template needs a restart, which the status says until it is done or undone', async (t) => {
  const harness = await started(t);
  await running(harness);
  const change = async (guestMemory: string): Promise<void> => {
    const spec = guest();
    await harness.change(virtualMachines, 'vm', (vm) => ({
      ...vm,
      metadata: { ...vm.metadata, generation: (vm.metadata.generation ?? 0) + 1 },
      spec: {
        ...vm.spec,
        template: { spec: { ...spec, domain: { ...spec.domain, memory: { guest: guestMemory } } } },
      },
    }));
  };
  await change('256Mi');
  const status = (): VirtualMachine['status'] => harness.vm()?.status;
  assert.equal(findCondition(status()?.conditions, 'RestartRequired')?.status, 'True');
  assert.deepEqual([status()?.observedGeneration, status()?.desiredGeneration], [1, 2]);
  await change('128Mi');
  assert.equal(findCondition(status()?.conditions, 'RestartRequired'), undefined);
  assert.deepEqual([status()?.observedGeneration, status()?.desiredGeneration], [3, 3]);
});

test('an instance that is refused shows as Failure, and comes once it is allowed', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  harness.client.beforeWrite = ({ verb, resource }) => {
    if (verb === 'create' && resource === 'virtualmachineinstances')
      throw statusError('Forbidden', virtualMachineInstances, 'vm', 'exceeded quota');
  };
  await harness.start(createVirtualMachineController);
  await harness.createVm();
  const failure = findCondition(harness.vm()?.status?.conditions, 'Failure');
  assert.equal(failure?.reason, 'FailedCreate');
  assert.match(failure.message ?? '', /exceeded quota/);
  assert.ok(harness.reasons.includes('FailedCreate'));
  harness.client.beforeWrite = undefined;
  await harness.clock.advance(60_000);
  assert.ok(harness.vmi());
  assert.equal(findCondition(harness.vm()?.status?.conditions, 'Failure'), undefined);
});

test('a status that somebody else changed at the same time is made anew from theirs', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  let disturbed = false;
  harness.client.beforeWrite = ({ subresource }) => {
    if (disturbed || subresource !== 'status') return;
    disturbed = true;
    harness.client.put(virtualMachines, key, (vm) => ({ ...vm, status: { snapshotInProgress: 'snap' } }));
  };
  await harness.start(createVirtualMachineController);
  await harness.createVm();
  await harness.clock.advance(2 * passingPatience);
  assert.ok(disturbed);
  assert.equal(harness.vm()?.status?.printableStatus, 'Starting');
  assert.equal(harness.vm()?.status?.snapshotInProgress, 'snap');
  assert.deepEqual(harness.writesOf(virtualMachineInstances), ['create']);
});

test('a deleted VM waits for its instance, then goes', async (t) => {
  const harness = await started(t);
  await running(harness);
  await harness.client.delete(virtualMachines, key);
  await settle();
  assert.ok(harness.vmi()?.metadata.deletionTimestamp);
  assert.equal(harness.vm()?.status?.printableStatus, 'Terminating');
  await letGo(harness);
  assert.equal(harness.vm(), undefined);
});

test('a VM deleted with orphan propagation leaves its instance running; a new VM of that name takes it over', async (t) => {
  const harness = await started(t);
  await running(harness);
  await harness.client.delete(virtualMachines, key, { propagationPolicy: 'Orphan' });
  await settle();
  assert.equal(harness.vmi()?.metadata.deletionTimestamp, undefined);
  assert.deepEqual(harness.vm()?.metadata.finalizers, ['orphan']);
  // The garbage collector's part.
  await harness.change(virtualMachineInstances, 'vm', (vmi) => ({
    ...vmi,
    metadata: { ...vmi.metadata, ownerReferences: [] },
  }));
  harness.client.remove(virtualMachines, key);
  const vm = await harness.createVm();
  assert.equal(harness.vmi()?.metadata.ownerReferences?.[0]?.uid, vm.metadata.uid);
  assert.equal(harness.vm()?.status?.printableStatus, 'Running');
});

test('an instance of that name that is somebody else’s is left alone, and said to be in the way', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  const owner = { apiVersion: 'x/v1', kind: 'Pool', name: 'pool', uid: 'p', controller: true };
  await harness.client.create(virtualMachineInstances, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { ...key, ownerReferences: [owner] },
    spec: guest(),
  });
  await harness.start(createVirtualMachineController);
  await harness.createVm();
  assert.match(
    findCondition(harness.vm()?.status?.conditions, 'Failure')?.message ?? '',
    /belongs to Pool pool/,
  );
  assert.equal(harness.vmi()?.metadata.deletionTimestamp, undefined);
});

test('a VM that came without its finalizer gets it before anything is made', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start(createVirtualMachineController);
  await harness.client.create(virtualMachines, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: key,
    spec: { runStrategy: 'Always', template: { spec: guest() } },
  });
  await settle();
  assert.deepEqual(harness.vm()?.metadata.finalizers, ['kubevirt.io/virtualMachineControllerFinalize']);
  assert.ok(harness.vmi());
});

test('a claim that stays unbound is what the VM waits for', async (t) => {
  const volumes = [{ name: 'root', persistentVolumeClaim: { claimName: 'data' } }];
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.client.create(persistentVolumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name: 'data' },
  });
  await harness.setStatus(persistentVolumeClaims, 'data', { phase: 'Pending' });
  await harness.start(createVirtualMachineController);
  await harness.createVm({ template: { spec: { ...guest(), volumes } } });
  await harness.clock.advance(passingPatience);
  assert.equal(harness.vm()?.status?.printableStatus, 'Starting');
  await harness.clock.advance(5000 - passingPatience);
  assert.equal(harness.vm()?.status?.printableStatus, 'WaitingForVolumeBinding');
  await harness.setStatus(persistentVolumeClaims, 'data', { phase: 'Bound' });
  assert.equal(harness.vm()?.status?.printableStatus, 'Starting');
});

test('events that change nothing cause no writes', async (t) => {
  const harness = await started(t);
  await running(harness);
  const before = harness.client.writes.length;
  for (let turn = 0; turn < 5; turn++) {
    await harness.change(virtualMachines, 'vm', (vm) => ({
      ...vm,
      metadata: { ...vm.metadata, labels: { turn: String(turn) } },
    }));
    await harness.change(virtualMachineInstances, 'vm', (vmi) => ({
      ...vmi,
      metadata: { ...vmi.metadata, labels: { turn: String(turn) } },
    }));
  }
  await harness.stop();
  await harness.start(createVirtualMachineController);
  assert.equal(harness.client.writes.length, before);
});
