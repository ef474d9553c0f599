import assert from 'node:assert/strict';
import test from 'node:test';
import { pods, virtualMachineInstances, virtualMachines } from './runtime/kinds.js';
import { createSchedulerController } from './scheduler/scheduler.js';
import { Harness } from './testing/harness.js';
import { createVirtualMachineInstanceController } from './virtual-machine-instance/virtual-machine-instance-controller.js';
import { detailPatience } from './virtual-machine/passing.js';
import { createVirtualMachineController } from './virtual-machine/virtual-machine-controller.js';

const createInstances = (deps: Parameters<typeof createVirtualMachineController>[0]) =>
  createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' });
const all = [createVirtualMachineController, createInstances, createSchedulerController];

test('from a new VM to a running guest our parts write six times, and the node agent once', async () => {
  const harness = new Harness();
  await harness.createNode();
  await harness.start(...all);
  harness.client.writes.length = 0;

  await harness.createVm();
  assert.equal(harness.launcher()?.spec?.nodeName, 'node1');
  assert.equal(harness.vmi()?.status?.phase, 'Scheduling');
  await harness.startPod();
  assert.equal(harness.vmi()?.status?.phase, 'Scheduled');
  assert.equal(harness.vmi()?.status?.nodeName, 'node1');
  await harness.startGuest();
  await harness.clock.advance(120_000);

  assert.equal(harness.vm()?.status?.printableStatus, 'Running');
  assert.equal(harness.vm()?.status?.ready, true);
  assert.deepEqual(harness.writesOf(virtualMachines), ['create', 'patch/status']);
  assert.deepEqual(harness.writesOf(virtualMachineInstances), ['create', 'patch/status', 'patch/status']);
  assert.deepEqual(harness.writesOf(pods), ['create', 'post/binding']);
  assert.deepEqual(harness.logger.problems, []);
  await harness.stop();
});

test('a start that takes long costs no further write where the server has said that it starts', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.createNode();
  await harness.start(...all);
  harness.client.writes.length = 0;
  await harness.createVm();
  await harness.setStatus(virtualMachines, 'vm', { printableStatus: 'Starting' });
  await harness.clock.advance(10_000);
  assert.deepEqual(harness.vm()?.status, { printableStatus: 'Starting' });
  await harness.startPod();
  await harness.clock.advance(10_000);
  await harness.startGuest();
  assert.equal(harness.vm()?.status?.printableStatus, 'Running');
  assert.equal(harness.vm()?.status?.created, true);
  assert.deepEqual(harness.writesOf(virtualMachines), ['create', 'patch/status']);
  assert.deepEqual(harness.writesOf(virtualMachineInstances), ['create', 'patch/status', 'patch/status']);
  assert.deepEqual(harness.writesOf(pods), ['create', 'post/binding']);
});

test('a start that never ends is told in full', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start(...all);
  await harness.createVm();
  await harness.setStatus(virtualMachines, 'vm', { printableStatus: 'Starting' });
  await harness.clock.advance(detailPatience);
  assert.equal(harness.vm()?.status?.created, true);
  assert.equal(harness.vm()?.status?.observedGeneration, 1);
});

test('started anew between any two writes, the controllers carry on and write nothing twice', async () => {
  for (let crashAt = 0; crashAt < 5; crashAt++) {
    const harness = new Harness();
    await harness.createNode();
    await harness.createVm();
    harness.client.writes.length = 0;
    const starting = harness.start(...all);
    harness.killAfter(crashAt);
    await starting;
    assert.equal(harness.client.writes.length, crashAt);
    await harness.start(...all);
    await harness.startPod();
    await harness.startGuest();

    assert.equal(harness.vm()?.status?.printableStatus, 'Running', `killed after ${crashAt} writes`);
    assert.deepEqual(harness.writesOf(virtualMachineInstances), ['create', 'patch/status', 'patch/status']);
    const pod = harness.writesOf(pods).filter((write) => write !== 'post/binding');
    assert.deepEqual(pod, ['create']);
    await harness.stop();
  }
});
