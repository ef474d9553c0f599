import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { ControllerRevision } from '../../../openapi/generated/types/apps_v1.js';
import type { VirtualMachineInstancetypeSpec } from '../../../openapi/generated/types/kubevirt_instancetype_v1beta1.js';
import type {
  KubeVirtConfiguration,
  VirtualMachine,
  VirtualMachineStatus,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import { findCondition } from '../../runtime/conditions.js';
import {
  controllerRevisions,
  kubeVirts,
  virtualMachineClusterInstancetypes,
  virtualMachineInstances,
  virtualMachineInstancetypes,
  virtualMachinePreferences,
  virtualMachines,
} from '../../runtime/kinds.js';
import { settle } from '../../runtime/testing/fake-clock.js';
import { Harness, guest } from '../../testing/harness.js';
import { createVirtualMachineController } from '../virtual-machine-controller.js';

const key = { namespace: 'default', name: 'vm' };
const small: VirtualMachineInstancetypeSpec = { cpu: { guest: 2 }, memory: { guest: '1Gi' } };

/** Without memory of its own, which an instancetype would conflict with. */
function template(): VirtualMachine['spec']['template'] {
  const spec = guest();
  delete spec.domain.memory;
  return { spec };
}

async function started(t: TestContext, configuration?: KubeVirtConfiguration): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  if (configuration !== undefined)
    await harness.client.create(kubeVirts, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'KubeVirt',
      metadata: { namespace: 'kubevirt', name: 'kubevirt' },
      spec: { configuration },
    });
  await harness.start(createVirtualMachineController);
  return harness;
}

async function createInstancetype(harness: Harness, spec = small, name = 'small'): Promise<void> {
  await harness.client.create(virtualMachineClusterInstancetypes, {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: 'VirtualMachineClusterInstancetype',
    metadata: { name, labels: { size: 's' } },
    spec,
  });
  await settle();
}

/** Of instancetypes and preferences, not of what the VM was started from. */
const copies = ({ client }: Harness): ControllerRevision[] =>
  client
    .all(controllerRevisions)
    .filter(({ metadata }) => metadata.labels?.['instancetype.kubevirt.io/object-name'] !== undefined);

const uses = (name: string): Partial<VirtualMachine['spec']> => ({
  instancetype: { name },
  template: template(),
});

test('the instance has what the instancetype gives, of which the VM keeps a copy', async (t) => {
  const harness = await started(t);
  await createInstancetype(harness);
  const vm = await harness.createVm(uses('small'));
  const vmi = harness.vmi();
  assert.deepEqual(vmi?.spec.domain.cpu, { sockets: 2, cores: 1, threads: 1 });
  assert.deepEqual(vmi.spec.domain.memory, { guest: '1Gi' });
  assert.equal(vmi.metadata.annotations?.['kubevirt.io/cluster-instancetype-name'], 'small');
  const [copy] = copies(harness);
  const object = harness.client.find(virtualMachineClusterInstancetypes, { name: 'small' });
  const { uid, generation = 0 } = object?.metadata ?? {};
  assert.equal(copy?.metadata.name, `vm-small-v1beta1-${uid}-${generation}`);
  assert.deepEqual(copy.metadata.labels, {
    'instancetype.kubevirt.io/object-generation': String(generation),
    'instancetype.kubevirt.io/object-kind': 'VirtualMachineClusterInstancetype',
    'instancetype.kubevirt.io/object-name': 'small',
    'instancetype.kubevirt.io/object-uid': uid,
    'instancetype.kubevirt.io/object-version': 'v1beta1',
  });
  assert.equal(copy.metadata.ownerReferences?.[0]?.uid, vm.metadata.uid);
  assert.deepEqual(copy.data?.['spec'], small);
  const { status, spec } = harness.vm() ?? {};
  assert.deepEqual(status?.instancetypeRef, {
    name: 'small',
    controllerRevisionRef: { name: copy.metadata.name },
  });
  assert.deepEqual(spec?.template, template(), 'the VM itself stays as it is');
  assert.deepEqual(
    harness.writesOf(virtualMachines).filter((write) => write !== 'create'),
    ['patch/status'],
  );
});

test('a VM with a copy starts as before when the instancetype has changed or is gone', async (t) => {
  const harness = await started(t);
  await createInstancetype(harness);
  await harness.createVm(uses('small'));
  await harness.startGuest();
  harness.client.remove(virtualMachineClusterInstancetypes, { name: 'small' });
  await createInstancetype(harness, { cpu: { guest: 8 }, memory: { guest: '8Gi' } });
  assert.equal(findCondition(harness.vm()?.status?.conditions, 'RestartRequired'), undefined);
  harness.client.remove(virtualMachineInstances, key);
  await settle();
  assert.equal(harness.vmi()?.spec.domain.memory?.guest, '1Gi');
});

test('another name means another instancetype, after a restart', async (t) => {
  const harness = await started(t);
  await createInstancetype(harness);
  await createInstancetype(harness, { cpu: { guest: 4 }, memory: { guest: '4Gi' } }, 'large');
  await harness.createVm(uses('small'));
  await harness.startGuest();
  await harness.change(virtualMachines, 'vm', (vm) => ({
    ...vm,
    spec: { ...vm.spec, instancetype: { name: 'large' } },
  }));
  assert.equal(harness.vm()?.status?.instancetypeRef?.name, 'large');
  assert.equal(findCondition(harness.vm()?.status?.conditions, 'RestartRequired')?.status, 'True');
  harness.client.remove(virtualMachineInstances, key);
  await settle();
  assert.equal(harness.vmi()?.spec.domain.memory?.guest, '4Gi');
});

test('the same name of another kind means another instancetype', async (t) => {
  const harness = await started(t);
  await createInstancetype(harness);
  await harness.createVm({ ...uses('small'), runStrategy: 'Halted' });
  const before = harness.vm()?.status?.instancetypeRef?.controllerRevisionRef?.name;
  await harness.client.create(virtualMachineInstancetypes, {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: 'VirtualMachineInstancetype',
    metadata: { namespace: 'default', name: 'small' },
    spec: { cpu: { guest: 1 }, memory: { guest: '512Mi' } },
  });
  const kind = 'VirtualMachineInstancetype';
  await harness.change(virtualMachines, 'vm', (vm) => ({
    ...vm,
    spec: { ...vm.spec, runStrategy: 'Always', instancetype: { name: 'small', kind } },
  }));
  assert.equal(harness.vmi()?.spec.domain.memory?.guest, '512Mi');
  const ref = harness.vm()?.status?.instancetypeRef;
  assert.equal(ref?.kind, kind);
  assert.notEqual(ref.controllerRevisionRef?.name, before);
});

test('a VM waits for an instancetype that does not exist yet, and says so once', async (t) => {
  const harness = await started(t);
  await harness.createVm(uses('small'));
  assert.equal(harness.vmi(), undefined);
  const failure = findCondition(harness.vm()?.status?.conditions, 'Failure');
  assert.equal(failure?.reason, 'FailedFindInstancetype');
  assert.match(failure.message ?? '', /VirtualMachineClusterInstancetype "small" not found/);
  await createInstancetype(harness, small, 'unrelated');
  assert.deepEqual(harness.reasons, ['FailedFindInstancetype']);
  await createInstancetype(harness);
  assert.equal(harness.vmi()?.spec.domain.memory?.guest, '1Gi');
  assert.equal(findCondition(harness.vm()?.status?.conditions, 'Failure'), undefined);
});

test('a VM that conflicts with its instancetype does not start, but can be stopped', async (t) => {
  const harness = await started(t);
  await createInstancetype(harness);
  await harness.createVm({ ...uses('small'), template: { spec: guest() } });
  assert.equal(harness.vmi(), undefined);
  const failure = findCondition(harness.vm()?.status?.conditions, 'Failure');
  assert.match(failure?.message ?? '', /spec\.template\.spec\.domain\.memory\.guest/);
  assert.deepEqual(copies(harness), []);
});

test('a preference applies where the VM says nothing', async (t) => {
  const harness = await started(t);
  await harness.client.create(virtualMachinePreferences, {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: 'VirtualMachinePreference',
    metadata: { namespace: 'default', name: 'os' },
    spec: { devices: { preferredDiskBus: 'sata', preferredInterfaceModel: 'e1000' } },
  });
  await harness.createVm({
    preference: { name: 'os', kind: 'VirtualMachinePreference' },
    template: { spec: guest() },
  });
  const vmi = harness.vmi();
  assert.deepEqual(vmi?.spec.domain.devices.disks, [{ name: 'root', disk: { bus: 'virtio' } }]);
  assert.deepEqual(vmi.spec.domain.devices.interfaces, [{ name: 'default', bridge: {}, model: 'e1000' }]);
  assert.equal(vmi.metadata.annotations?.['kubevirt.io/preference-name'], 'os');
  assert.equal(harness.vm()?.status?.preferenceRef?.kind, 'VirtualMachinePreference');
});

test('the policy expand replaces references by what they stand for', async (t) => {
  const harness = await started(t, { instancetype: { referencePolicy: 'expand' } });
  await createInstancetype(harness);
  await harness.createVm(uses('small'));
  const { spec, status } = harness.vm() ?? {};
  assert.equal(spec?.instancetype, undefined);
  assert.equal(spec?.template.spec?.domain.memory?.guest, '1Gi');
  assert.equal(status?.instancetypeRef, undefined);
  assert.deepEqual(copies(harness), []);
  assert.equal(harness.vmi()?.spec.domain.cpu?.sockets, 2);
});

test('expand leaves references that are in use, expandAll does not, nor their copies', async (t) => {
  const harness = await started(t, {});
  await createInstancetype(harness);
  await harness.createVm(uses('small'));
  await harness.startGuest();
  const setPolicy = (referencePolicy: 'expand' | 'expandAll'): void => {
    harness.client.put(kubeVirts, { namespace: 'kubevirt', name: 'kubevirt' }, (kubevirt) => ({
      ...kubevirt,
      spec: { configuration: { instancetype: { referencePolicy } } },
    }));
  };
  setPolicy('expand');
  await settle();
  assert.deepEqual(harness.vm()?.spec.instancetype, { name: 'small' });
  setPolicy('expandAll');
  await settle();
  assert.equal(harness.vm()?.spec.instancetype, undefined);
  assert.equal(harness.vm()?.status?.instancetypeRef, undefined);
  assert.deepEqual(copies(harness), []);
  assert.equal(findCondition(harness.vm()?.status?.conditions, 'RestartRequired'), undefined);
});

/** A VM that is not running, with a copy made by an older release. */
async function withOldCopy(harness: Harness, status: VirtualMachineStatus = {}): Promise<void> {
  const name = 'vm-small-v1alpha2-uid-1';
  const labels = {
    'instancetype.kubevirt.io/object-name': 'small',
    'instancetype.kubevirt.io/object-kind': 'VirtualMachineClusterInstancetype',
    'instancetype.kubevirt.io/object-version': 'v1alpha2',
  };
  await harness.client.create(controllerRevisions, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { namespace: 'default', name, labels },
    data: {
      apiVersion: 'instancetype.kubevirt.io/v1alpha2',
      kind: 'VirtualMachineClusterInstancetype',
      metadata: { name: 'small', uid: 'uid', generation: 1 },
      spec: small,
    },
    revision: 0,
  });
  await settle();
  await harness.createVm({ ...uses('small'), runStrategy: 'Halted' });
  const instancetypeRef = { name: 'small', controllerRevisionRef: { name } };
  await harness.setStatus(virtualMachines, 'vm', { ...status, instancetypeRef });
}

test('a copy of an older version is replaced by one of the latest', async (t) => {
  const harness = await started(t);
  await withOldCopy(harness);
  const [copy, ...others] = copies(harness);
  assert.equal(copy?.metadata.name, 'vm-small-v1beta1-uid-1');
  assert.deepEqual(others, []);
  assert.equal(copy.metadata.labels?.['instancetype.kubevirt.io/object-version'], 'v1beta1');
  assert.equal(copy.data?.['apiVersion'], 'instancetype.kubevirt.io/v1beta1');
  assert.equal(harness.vm()?.status?.instancetypeRef?.controllerRevisionRef?.name, copy.metadata.name);
});

test('the old copy stays until the status names the new one', async (t) => {
  const harness = await started(t);
  await withOldCopy(harness, { stateChangeRequests: [{ action: 'Start' }] });
  assert.equal(harness.vmi()?.spec.domain.memory?.guest, '1Gi');
  assert.equal(copies(harness).length, 1);
});

for (const [writes, what] of [
  [1, 'copy'],
  [2, 'revision'],
  [3, 'instance'],
] as const) {
  test(`killed after it made the ${what}, it carries on with what is there`, async (t) => {
    const harness = await started(t);
    await createInstancetype(harness);
    harness.killAfter(writes);
    await harness.createVm(uses('small'));
    assert.equal(copies(harness).length, 1);
    assert.equal(harness.vm()?.status?.instancetypeRef, undefined);
    await harness.start(createVirtualMachineController);
    assert.equal(harness.vmi()?.spec.domain.memory?.guest, '1Gi');
    const [copy, ...others] = copies(harness);
    assert.deepEqual(others, []);
    assert.equal(harness.vm()?.status?.instancetypeRef?.controllerRevisionRef?.name, copy?.metadata.name);
  });
}
