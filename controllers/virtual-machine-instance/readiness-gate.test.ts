import assert from 'node:assert/strict';
import test from 'node:test';
import { findCondition } from '../runtime/conditions.js';
import { pods, virtualMachineInstances } from '../runtime/kinds.js';
import { Harness } from '../testing/harness.js';
import { createVirtualMachineController } from '../virtual-machine/virtual-machine-controller.js';
import { createVirtualMachineInstanceController } from './virtual-machine-instance-controller.js';

const gate = 'kubevirt.io/virtual-machine-unpaused';

async function started(t: { after(end: () => Promise<void>): void }): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start(createVirtualMachineController, (deps) =>
    createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' }),
  );
  await harness.createVm();
  await harness.bindAndRun();
  return harness;
}

const opened = (harness: Harness): string | undefined =>
  findCondition(harness.launcher()?.status?.conditions, gate)?.status;

/** As a kubelet leaves it, which knows no more than that there is a gate. */
async function withoutGate(harness: Harness): Promise<void> {
  await harness.setStatus(pods, harness.launcher()?.metadata.name ?? '', {
    conditions: [{ type: 'Ready', status: 'False', reason: 'ReadinessGatesNotReady' }],
  });
}

test('a launcher is not ready for Services before its guest runs, nor while it is paused', async (t) => {
  const harness = await started(t);
  assert.deepEqual(harness.launcher()?.spec?.readinessGates, [{ conditionType: gate }]);
  await withoutGate(harness);
  assert.equal(opened(harness), undefined);
  await harness.startGuest();
  assert.equal(opened(harness), 'True');
  assert.equal(
    findCondition(harness.launcher()?.status?.conditions, 'Ready')?.status,
    'False',
    'the kubelet’s',
  );

  const conditions = harness.vmi()?.status?.conditions ?? [];
  await harness.setStatus(virtualMachineInstances, 'vm', {
    conditions: [...conditions, { type: 'Paused', status: 'True', reason: 'PausedByUser' }],
  });
  assert.equal(opened(harness), 'False');
  await harness.setStatus(virtualMachineInstances, 'vm', { conditions });
  assert.equal(opened(harness), 'True');
});

test('a gate that stands as it should is not written', async (t) => {
  const harness = await started(t);
  await harness.startGuest();
  await harness.clock.advance(60_000);
  assert.deepEqual(harness.writesOf(pods), ['create']);
});

test('an instance that leaves leaves its gate as it is', async (t) => {
  const harness = await started(t);
  await withoutGate(harness);
  await harness.client.delete(virtualMachineInstances, { namespace: 'default', name: 'vm' });
  await harness.startGuest();
  assert.equal(opened(harness), undefined);
});
