import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type {
  Interface,
  KubeVirtConfiguration,
  VirtualMachine,
  VirtualMachineInstanceSpec,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { findCondition } from '../runtime/conditions.js';
import {
  controllerRevisions,
  kubeVirts,
  virtualMachineInstances,
  virtualMachines,
} from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { statusError } from '../runtime/testing/status-error.js';
import { Harness, guest } from '../testing/harness.js';
import { createVirtualMachineInstanceController } from '../virtual-machine-instance/virtual-machine-instance-controller.js';
import { createVirtualMachineController } from './virtual-machine-controller.js';

const key = { namespace: 'default', name: 'vm' };
const nic = (change: Partial<Interface> = {}): Interface => ({ name: 'default', masquerade: {}, ...change });

function withInterfaces(...interfaces: readonly Interface[]): VirtualMachineInstanceSpec {
  const { domain, ...spec } = guest();
  return { ...spec, domain: { ...domain, devices: { ...domain.devices, interfaces: [...interfaces] } } };
}

async function started(
  t: TestContext,
  spec: VirtualMachineInstanceSpec = guest(),
  configuration: KubeVirtConfiguration = {},
): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.client.create(kubeVirts, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { namespace: 'kubevirt', name: 'kubevirt' },
    spec: { configuration },
  });
  await harness.start(createVirtualMachineController, (deps) =>
    createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' }),
  );
  await harness.createVm({ template: { spec } });
  await harness.bindAndRun();
  await harness.startGuest();
  return harness;
}

const respec = (harness: Harness, spec: VirtualMachineInstanceSpec): Promise<void> =>
  harness.change(virtualMachines, 'vm', (vm) => ({
    ...vm,
    metadata: { ...vm.metadata, generation: (vm.metadata.generation ?? 0) + 1 },
    spec: { ...vm.spec, template: { spec } },
  }));

const restartRequired = (harness: Harness): ReturnType<typeof findCondition> =>
  findCondition(harness.vm()?.status?.conditions, 'RestartRequired');

/** The instance ends, and the VM makes another. */
async function restart(harness: Harness): Promise<void> {
  await harness.removePod();
  harness.client.remove(virtualMachineInstances, key);
  await settle();
  await harness.bindAndRun();
  await harness.startGuest();
}

test('what an instance was started from is kept as one revision, which its status names', async (t) => {
  const harness = await started(t);
  const vm = harness.vm();
  const revisions = () => harness.client.all(controllerRevisions);
  const first = `revision-start-vm-${vm?.metadata.uid}-1`;
  assert.deepEqual(
    revisions().map(({ metadata }) => metadata.name),
    [first],
  );
  assert.deepEqual(revisions()[0]?.data, { spec: vm?.spec });
  assert.equal(revisions()[0]?.revision, 1);
  assert.equal(revisions()[0]?.metadata.ownerReferences?.[0]?.uid, vm?.metadata.uid);
  assert.equal(harness.vmi()?.status?.virtualMachineRevisionName, first);

  await restart(harness);
  assert.deepEqual(harness.writesOf(controllerRevisions), ['create'], 'the same spec needs no other');

  await respec(harness, { ...guest(), hostname: 'other' });
  assert.equal(harness.vmi()?.status?.virtualMachineRevisionName, first, 'it still runs with the old one');
  await restart(harness);
  const second = `revision-start-vm-${vm?.metadata.uid}-2`;
  assert.deepEqual(
    revisions().map(({ metadata }) => metadata.name),
    [second],
  );
  assert.equal(harness.vmi()?.status?.virtualMachineRevisionName, second);
});

test('what only a restart brings into force is named, and the instance is left alone', async (t) => {
  const harness = await started(t);
  const { domain, ...spec } = guest();
  await respec(harness, {
    ...spec,
    hostname: 'other',
    domain: { ...domain, cpu: { cores: 4 }, memory: { guest: '256Mi' } },
  });
  const fields = ['domain.cpu.cores', 'domain.memory.guest', 'hostname'].map(
    (field) => `spec.template.spec.${field}`,
  );
  assert.equal(
    restartRequired(harness)?.message,
    `changed since this instance was started: ${fields.join(', ')}; restart the VM to apply it`,
  );
  assert.deepEqual(harness.writesOf(virtualMachineInstances), ['create', 'patch/status', 'patch/status']);
  await restart(harness);
  assert.equal(restartRequired(harness), undefined);
});

test('a cable is cut and joined while the guest runs', async (t) => {
  const harness = await started(t, withInterfaces(nic(), nic({ name: 'second', bridge: {} })));
  const states = (): (string | undefined)[] =>
    harness.vmi()?.spec.domain.devices.interfaces?.map(({ state }) => state) ?? [];
  await respec(harness, withInterfaces(nic(), nic({ name: 'second', bridge: {}, state: 'down' })));
  assert.deepEqual(states(), [undefined, 'down']);
  assert.equal(restartRequired(harness), undefined);
  const { observedGeneration, desiredGeneration } = harness.vm()?.status ?? {};
  assert.deepEqual([observedGeneration, desiredGeneration], [2, 2]);
  await respec(harness, withInterfaces(nic({ state: 'down' }), nic({ name: 'second', bridge: {} })));
  assert.deepEqual(states(), ['down', undefined]);
  assert.ok(harness.reasons.includes('SuccessfulUpdate'));

  const writes = harness.client.writes.length;
  await harness.stop();
  await harness.start(createVirtualMachineController);
  assert.equal(harness.client.writes.length, writes, 'a controller that starts anew has nothing to do');
});

test('cables move even while other changes wait for a restart', async (t) => {
  const harness = await started(t, withInterfaces(nic()));
  await respec(harness, { ...withInterfaces(nic({ state: 'down' })), hostname: 'other' });
  assert.equal(harness.vmi()?.spec.domain.devices.interfaces?.[0]?.state, 'down');
  assert.match(restartRequired(harness)?.message ?? '', /: spec\.template\.spec\.hostname;/);
  await respec(harness, { ...withInterfaces(nic()), hostname: 'other' });
  assert.equal(harness.vmi()?.spec.domain.devices.interfaces?.[0]?.state, undefined);
  await respec(harness, withInterfaces(nic()));
  assert.equal(restartRequired(harness), undefined);
});

test('an interface that comes, goes, or is a host device, waits for a restart', async (t) => {
  const harness = await started(t, withInterfaces(nic(), nic({ name: 'second', sriov: {} })));
  const before = harness.vmi()?.spec;
  for (const interfaces of [
    [nic()],
    [nic(), nic({ name: 'second', sriov: {}, state: 'down' })],
    [nic({ state: 'absent' }), nic({ name: 'second', sriov: {} })],
    [nic(), nic({ name: 'second', sriov: {} }), nic({ name: 'third', bridge: {} })],
  ]) {
    await respec(harness, withInterfaces(...interfaces));
    assert.match(restartRequired(harness)?.message ?? '', /devices\.interfaces/);
    assert.deepEqual(harness.vmi()?.spec, before);
  }
});

const zone: Partial<VirtualMachineInstanceSpec> = {
  nodeSelector: { zone: 'a' },
  tolerations: [{ key: 'spot', operator: 'Exists' }],
};

test('LiveUpdate: where an instance may go is known to it at once', async (t) => {
  const harness = await started(t);
  await respec(harness, { ...guest(), ...zone });
  assert.deepEqual(harness.vmi()?.spec.nodeSelector, zone.nodeSelector);
  assert.deepEqual(harness.vmi()?.spec.tolerations, zone.tolerations);
  assert.equal(restartRequired(harness), undefined);
  await respec(harness, guest());
  assert.equal(harness.vmi()?.spec.nodeSelector, undefined);
  assert.equal(restartRequired(harness), undefined);
});

test('Stage: it waits for a restart, until the strategy changes', async (t) => {
  const harness = await started(t, guest(), { vmRolloutStrategy: 'Stage' });
  await respec(harness, { ...guest(), ...zone });
  assert.equal(harness.vmi()?.spec.nodeSelector, undefined);
  assert.match(restartRequired(harness)?.message ?? '', /nodeSelector/);
  harness.client.put(kubeVirts, { namespace: 'kubevirt', name: 'kubevirt' }, (kubevirt) => ({
    ...kubevirt,
    spec: { configuration: { vmRolloutStrategy: 'LiveUpdate' as const } },
  }));
  await settle();
  assert.deepEqual(harness.vmi()?.spec.nodeSelector, zone.nodeSelector);
  assert.equal(restartRequired(harness), undefined);
});

test('an instance on its way to another node is changed when it has arrived', async (t) => {
  const harness = await started(t);
  const migrationState = { startTimestamp: '2026-01-02T03:04:05Z' };
  await harness.setStatus(virtualMachineInstances, 'vm', { migrationState });
  await respec(harness, { ...guest(), ...zone });
  assert.equal(harness.vmi()?.spec.nodeSelector, undefined);
  await harness.setStatus(virtualMachineInstances, 'vm', {
    migrationState: { ...migrationState, completed: true },
  });
  assert.deepEqual(harness.vmi()?.spec.nodeSelector, zone.nodeSelector);
});

test('an update that is refused is told and tried again', async (t) => {
  const harness = await started(t);
  harness.client.beforeWrite = ({ verb, resource, subresource }) => {
    if (verb === 'patch' && resource === 'virtualmachineinstances' && subresource === undefined)
      throw statusError('Invalid', virtualMachineInstances, 'vm', 'not now');
  };
  await respec(harness, { ...guest(), ...zone });
  assert.ok(
    harness.events.some(({ reason, message }) => reason === 'FailedUpdate' && /not now/.test(message)),
  );
  harness.client.beforeWrite = undefined;
  await harness.clock.advance(60_000);
  assert.deepEqual(harness.vmi()?.spec.nodeSelector, zone.nodeSelector);
});

test('an instance whose revision is gone needs a restart for any change', async (t) => {
  const harness = await started(t);
  for (const { metadata } of harness.client.all(controllerRevisions))
    harness.client.remove(controllerRevisions, metadata);
  await respec(harness, { ...guest(), ...zone });
  assert.match(restartRequired(harness)?.message ?? '', /: spec\.template;/);
});

for (const writes of [1, 2])
  test(`killed after ${writes} writes of a start, there is one revision and one instance`, async (t) => {
    const harness = new Harness();
    t.after(() => harness.stop());
    await harness.start(createVirtualMachineController);
    harness.killAfter(writes);
    const vm: VirtualMachine = await harness.createVm();
    await harness.start(createVirtualMachineController);
    assert.deepEqual(harness.writesOf(controllerRevisions), ['create']);
    assert.deepEqual(harness.writesOf(virtualMachineInstances), ['create']);
    assert.equal(harness.vmi()?.metadata.ownerReferences?.[0]?.uid, vm.metadata.uid);
  });
