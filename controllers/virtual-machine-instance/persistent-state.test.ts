import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { kubeVirts, persistentVolumeClaims, virtualMachines } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { Harness, guest } from '../testing/harness.js';
import { createVirtualMachineController } from '../virtual-machine/virtual-machine-controller.js';
import { createVirtualMachineInstanceController } from './virtual-machine-instance-controller.js';

async function started(t: TestContext): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.client.create(kubeVirts, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { namespace: 'kubevirt', name: 'kubevirt' },
    spec: { configuration: { vmStateStorageClass: 'fast' } },
  });
  await harness.start(createVirtualMachineController, (deps) =>
    createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' }),
  );
  return harness;
}

function template(persistent: boolean): Pick<VirtualMachine['spec'], 'template'> {
  const spec = guest();
  const devices = { ...spec.domain.devices, tpm: { persistent } };
  return { template: { spec: { ...spec, domain: { ...spec.domain, devices } } } };
}

test('a persistent TPM has a claim that its VM owns, and its pod mounts it', async (t) => {
  const harness = await started(t);
  await harness.createVm(template(true));
  const [claim, ...others] = harness.client.all(persistentVolumeClaims);
  assert.deepEqual(others, []);
  assert.equal(claim?.metadata.name, 'persistent-state-for-vm');
  assert.equal(claim.metadata.ownerReferences?.[0]?.uid, harness.vm()?.metadata.uid);
  assert.equal(claim.spec?.storageClassName, 'fast');
  const { volumes = [], containers = [] } = harness.launcher()?.spec ?? {};
  const volume = volumes.find(({ persistentVolumeClaim }) => persistentVolumeClaim !== undefined);
  assert.equal(volume?.persistentVolumeClaim?.claimName, 'persistent-state-for-vm');
  const mount = containers[0]?.volumeMounts?.find(({ name }) => name === volume.name);
  assert.match(mount?.mountPath ?? '', /\/volumes\/persistent-state$/);
});

test('the next instance of the VM finds the state of the last', async (t) => {
  const harness = await started(t);
  await harness.createVm(template(true));
  const before = harness.client.all(persistentVolumeClaims)[0]?.metadata.uid;
  const uid = harness.vmi()?.metadata.uid ?? '';
  await harness.setStatus(virtualMachines, 'vm', {
    stateChangeRequests: [{ action: 'Stop', uid }, { action: 'Start' }],
  });
  await harness.removePod();
  await settle();
  assert.notEqual(harness.vmi()?.metadata.uid, uid);
  assert.deepEqual(
    harness.client.all(persistentVolumeClaims).map(({ metadata }) => metadata.uid),
    [before],
  );
});

test('what need not outlive the pod has no claim', async (t) => {
  const harness = await started(t);
  await harness.createVm(template(false));
  assert.ok(harness.launcher());
  assert.deepEqual(harness.client.all(persistentVolumeClaims), []);
});
