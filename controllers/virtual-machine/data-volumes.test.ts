import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { findCondition } from '../runtime/conditions.js';
import { dataVolumes, persistentVolumeClaims, virtualMachines } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { statusError } from '../runtime/testing/status-error.js';
import { Harness, guest } from '../testing/harness.js';
import { createVirtualMachineController } from './virtual-machine-controller.js';

const key = { namespace: 'default', name: 'root' };

async function started(t: TestContext, runStrategy = 'Always', refused = false): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  if (refused)
    harness.client.beforeWrite = ({ resource }) => {
      if (resource === dataVolumes.resource) throw statusError('NotFound', dataVolumes, 'root');
    };
  await harness.start(createVirtualMachineController);
  await harness.createVm({
    runStrategy,
    dataVolumeTemplates: [
      {
        apiVersion: 'cdi.kubevirt.io/v1beta1',
        kind: 'DataVolume',
        // Templates have no identity, though their type knows the fields.
        metadata: { name: 'root', uid: '', resourceVersion: '', creationTimestamp: '' },
        spec: { source: { blank: {} } },
      },
    ],
    template: { spec: { ...guest(), volumes: [{ name: 'root', dataVolume: { name: 'root' } }] } },
  });
  return harness;
}

async function claim(harness: Harness): Promise<void> {
  await harness.client.create(persistentVolumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: key,
  });
  await settle();
}

const become = (harness: Harness, phase: string): Promise<void> =>
  harness.change(dataVolumes, 'root', (volume) => Object.assign({}, volume, { status: { phase } }));

test('they are made once, and the instance waits for their contents', async (t) => {
  const harness = await started(t);
  const volume = harness.client.find(dataVolumes, key);
  assert.equal(volume?.metadata.ownerReferences?.[0]?.uid, harness.vm()?.metadata.uid);
  assert.equal(harness.vm()?.status?.printableStatus, 'Provisioning');
  assert.equal(harness.vmi(), undefined);
  await become(harness, 'ImportInProgress');
  await claim(harness);
  assert.equal(harness.vmi(), undefined);
  await become(harness, 'Succeeded');
  await harness.clock.advance(30_000);
  assert.ok(harness.vmi());
  assert.deepEqual(harness.writesOf(dataVolumes), ['create']);
  assert.deepEqual(harness.reasons, ['SuccessfulCreate', 'SuccessfulCreate']);
});

test('one that waits for its first consumer gets it', async (t) => {
  const harness = await started(t);
  await become(harness, 'WaitForFirstConsumer');
  await claim(harness);
  assert.ok(harness.vmi());
});

test('a halted VM has them too', async (t) => {
  const harness = await started(t, 'Halted');
  assert.ok(harness.client.find(dataVolumes, key));
  await become(harness, 'Succeeded');
  await claim(harness);
  assert.equal(harness.vm()?.status?.printableStatus, 'Stopped');
});

test('a claim whose data volume was cleared away is complete', async (t) => {
  const harness = await started(t);
  await claim(harness);
  await become(harness, 'Succeeded');
  harness.client.remove(dataVolumes, key);
  await harness.clock.advance(30_000);
  assert.ok(harness.vmi());
  assert.deepEqual(harness.writesOf(dataVolumes), ['create']);
});

test('an import that fails, and a cluster without data volumes, are said so', async (t) => {
  const failing = await started(t);
  await become(failing, 'Failed');
  await claim(failing);
  assert.equal(failing.vm()?.status?.printableStatus, 'DataVolumeError');
  assert.match(findCondition(failing.vm()?.status?.conditions, 'Failure')?.message ?? '', /root has failed/);
  const without = await started(t, 'Always', true);
  assert.equal(without.vm()?.status?.printableStatus, 'DataVolumeError');
  assert.equal(without.vmi(), undefined);
  assert.ok(without.client.find(virtualMachines, { namespace: 'default', name: 'vm' }));
});
