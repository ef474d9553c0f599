import assert from 'node:assert/strict';
import test from 'node:test';
import { pods, virtualMachineInstances } from '../runtime/kinds.js';
import { Harness } from '../testing/harness.js';
import { createVirtualMachineController } from '../virtual-machine/virtual-machine-controller.js';
import { createVirtualMachineInstanceController } from './virtual-machine-instance-controller.js';

async function started(t: { after(end: () => Promise<void>): void }): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start(createVirtualMachineController, (deps) =>
    createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' }),
  );
  await harness.createVm();
  await harness.bindAndRun();
  await harness.startGuest();
  return harness;
}

const mark = (
  harness: Harness,
  labels: Record<string, string>,
  annotations: Record<string, string> = {},
): Promise<void> =>
  harness.change(virtualMachineInstances, 'vm', (vmi) => ({
    ...vmi,
    metadata: { ...vmi.metadata, labels, annotations: { ...vmi.metadata.annotations, ...annotations } },
  }));

test('labels and annotations that a VMI gets come to its pod', async (t) => {
  const harness = await started(t);
  await mark(harness, { tier: 'gold' }, { note: 'x' });
  const { labels, annotations } = harness.launcher()?.metadata ?? {};
  assert.equal(labels?.['tier'], 'gold');
  assert.equal(annotations?.['note'], 'x');
  assert.deepEqual(harness.writesOf(pods), ['create', 'patch']);
});

test('that its launcher is outdated is shown, and taken back', async (t) => {
  const harness = await started(t);
  const outdated = 'kubevirt.io/outdatedLauncherImage';
  await mark(harness, { [outdated]: '' });
  assert.equal(harness.launcher()?.metadata.labels?.[outdated], '');
  await mark(harness, {});
  assert.equal(harness.launcher()?.metadata.labels?.[outdated], undefined);
});

test('what is the pod’s own, or speaks of the VMI alone, stays', async (t) => {
  const harness = await started(t);
  const before = harness.launcher()?.metadata;
  await mark(
    harness,
    { 'kubevirt.io': 'mine', 'kubevirt.io/created-by': 'me', 'kubevirt.io/nodeName': 'node1' },
    { 'kubevirt.io/vm-generation': '7', 'kubevirt.io/domain': 'other' },
  );
  assert.deepEqual(harness.launcher()?.metadata, before);
  await harness.clock.advance(60_000);
  assert.deepEqual(harness.writesOf(pods), ['create']);
});
