import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { dataVolumes, virtualMachineInstances, virtualMachines } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { Harness, guest } from '../testing/harness.js';
import { UnreliableWay } from '../testing/unreliable-client.js';
import { createVirtualMachineController } from '../virtual-machine/virtual-machine-controller.js';
import { createPoolController } from './pool-controller.js';
import {
  type Spec,
  unnamed,
  revisionLabel,
  template,
  withMemory,
  create,
  started,
  names,
  revisions,
  memoryOf,
  respec,
  runAll,
  endAll,
} from './testing/pool.js';

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

/** Each VM has a disk of its own. */
function withDisk(
  size: string,
  change: Partial<VirtualMachine['spec']> = {},
): Spec['virtualMachineTemplate'] {
  return template({
    dataVolumeTemplates: [
      {
        apiVersion: 'cdi.kubevirt.io/v1beta1',
        kind: 'DataVolume',
        metadata: { ...unnamed, name: 'disk' },
        spec: { storage: { resources: { requests: { storage: size } } } },
      },
    ],
    template: { spec: { ...guest(), volumes: [{ name: 'root', dataVolume: { name: 'disk' } }] } },
    ...change,
  });
}

const isRemade = (harness: Harness): boolean => {
  const { metadata } = harness.vm('web-0') ?? {};
  return (
    metadata?.deletionTimestamp !== undefined && metadata.finalizers?.includes('foregroundDeletion') === true
  );
};

async function fillDisk(harness: Harness): Promise<void> {
  await harness.change(dataVolumes, 'disk-0', (volume) =>
    Object.assign({}, volume, { status: { phase: 'Succeeded' } }),
  );
  await harness.clock.advance(30_000);
}

test('VMs with new disks in their template are made anew', async (t) => {
  const harness = await started(t, { replicas: 1, virtualMachineTemplate: withDisk('1Gi') });
  assert.equal(harness.vm('web-0')?.spec.dataVolumeTemplates?.[0]?.metadata.name, 'disk-0');
  assert.equal(harness.vm('web-0')?.spec.template.spec?.volumes?.[0]?.dataVolume?.name, 'disk-0');
  await fillDisk(harness);
  await runAll(harness);
  await respec(harness, { virtualMachineTemplate: withDisk('2Gi') });
  assert.ok(isRemade(harness));
});

for (const updateStrategy of [{ proactive: {} }, { opportunistic: {} }])
  test(`${Object.keys(updateStrategy).join('')}: a VM whose disks never got ready gets the new ones too`, async (t) => {
    const harness = await started(t, {
      replicas: 1,
      updateStrategy,
      virtualMachineTemplate: withDisk('1Gi', { runStrategy: 'RerunOnFailure' }),
    });
    assert.equal(harness.vm('web-0')?.status?.printableStatus, 'Provisioning');
    await respec(harness, { virtualMachineTemplate: withDisk('2Gi', { runStrategy: 'RerunOnFailure' }) });
    assert.ok(isRemade(harness));
  });

test('a VM that was between two instances when its disks changed is made anew', async (t) => {
  const harness = await started(t, { replicas: 1, virtualMachineTemplate: withDisk('1Gi') });
  await fillDisk(harness);
  await harness.endGuest('Failed', 'web-0');
  await endAll(harness);
  assert.equal(harness.vmi('web-0'), undefined, 'it waits out the delay of a crash loop');
  await respec(harness, { virtualMachineTemplate: withDisk('2Gi') });
  assert.ok(isRemade(harness));
});

test('a VM that its user has stopped keeps its disks until it is started again', async (t) => {
  const harness = await started(t, {
    replicas: 1,
    virtualMachineTemplate: withDisk('1Gi', { runStrategy: 'Manual' }),
  });
  await fillDisk(harness);
  await respec(harness, { virtualMachineTemplate: withDisk('2Gi', { runStrategy: 'Manual' }) });
  assert.ok(!isRemade(harness));
  await harness.setStatus(virtualMachines, 'web-0', { stateChangeRequests: [{ action: 'Start' }] });
  assert.ok(isRemade(harness));
});
