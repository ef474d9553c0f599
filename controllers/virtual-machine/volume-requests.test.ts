import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { AddVolumeOptions, VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { findCondition } from '../runtime/conditions.js';
import { virtualMachines } from '../runtime/kinds.js';
import { statusError } from '../runtime/testing/status-error.js';
import { Harness } from '../testing/harness.js';
import { createVirtualMachineController } from './virtual-machine-controller.js';

const data: AddVolumeOptions = {
  name: 'data',
  disk: { name: 'data', disk: { bus: 'scsi' } },
  volumeSource: { persistentVolumeClaim: { claimName: 'claim' } },
};

async function started(t: TestContext, runStrategy = 'Always'): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start(createVirtualMachineController);
  await harness.createVm({ runStrategy });
  return harness;
}

const ask = (harness: Harness, request: object): Promise<void> =>
  harness.setStatus(virtualMachines, 'vm', { ...harness.vm()?.status, volumeRequests: [request] });

const volumesOf = (vm: VirtualMachine | undefined): string[] =>
  vm?.spec.template.spec?.volumes?.map(({ name }) => name) ?? [];
const disksOf = (vm: VirtualMachine | undefined): string[] =>
  vm?.spec.template.spec?.domain.devices.disks?.map(({ name }) => name) ?? [];

test('a request to add a volume ends in the template, and one to remove it too', async (t) => {
  const harness = await started(t, 'Halted');
  await ask(harness, { addVolumeOptions: data });
  assert.deepEqual(volumesOf(harness.vm()), ['root', 'data']);
  assert.deepEqual(disksOf(harness.vm()), ['root', 'data']);
  assert.deepEqual(harness.vm()?.spec.template.spec?.volumes?.[1]?.persistentVolumeClaim, {
    claimName: 'claim',
    hotpluggable: true,
  });
  assert.equal(harness.vm()?.status?.volumeRequests, undefined);
  await ask(harness, { removeVolumeOptions: { name: 'data' } });
  assert.deepEqual(volumesOf(harness.vm()), ['root']);
  assert.deepEqual(disksOf(harness.vm()), ['root']);
  assert.equal(harness.vm()?.status?.volumeRequests, undefined);
});

test('a running guest gets the volume with its next start, which its status says', async (t) => {
  const harness = await started(t);
  await harness.startGuest();
  await ask(harness, { addVolumeOptions: data });
  assert.deepEqual(volumesOf(harness.vm()), ['root', 'data']);
  assert.equal(harness.vmi()?.spec.volumes?.length, 1);
  const condition = findCondition(harness.vm()?.status?.conditions, 'RestartRequired');
  assert.match(condition?.message ?? '', /spec\.template\.spec\.volumes/);
  assert.equal(harness.vm()?.status?.volumeRequests, undefined);
});

test('a request that the template can not take stays, and the status says why', async (t) => {
  const harness = await started(t);
  await harness.startGuest();
  harness.client.beforeWrite = ({ verb, resource, subresource }) => {
    if (verb === 'patch' && resource === 'virtualmachines' && subresource === undefined)
      throw statusError('Invalid', virtualMachines, 'vm', 'too many disks');
  };
  await ask(harness, { addVolumeOptions: data });
  const failure = findCondition(harness.vm()?.status?.conditions, 'Failure');
  assert.equal(failure?.reason, 'HotPlugVolumeError');
  assert.match(failure.message ?? '', /too many disks/);
  assert.equal(harness.vm()?.status?.printableStatus, 'Running');
  assert.equal(harness.vm()?.status?.volumeRequests?.length, 1);
  assert.equal(harness.reasons.filter((reason) => reason === 'HotPlugVolumeError').length, 1);
  harness.client.beforeWrite = undefined;
  await harness.clock.advance(60_000);
  assert.deepEqual(volumesOf(harness.vm()), ['root', 'data']);
  assert.equal(findCondition(harness.vm()?.status?.conditions, 'Failure'), undefined);
});

test('killed between template and status, the request is done once', async (t) => {
  const harness = await started(t, 'Halted');
  harness.killAfter(1);
  await ask(harness, { addVolumeOptions: data });
  assert.deepEqual(volumesOf(harness.vm()), ['root', 'data']);
  assert.equal(harness.vm()?.status?.volumeRequests?.length, 1);
  await harness.start(createVirtualMachineController);
  assert.deepEqual(volumesOf(harness.vm()), ['root', 'data']);
  assert.equal(harness.vm()?.status?.volumeRequests, undefined);
});
