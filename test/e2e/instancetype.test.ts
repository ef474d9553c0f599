/** Instancetypes and preferences with the real kubectl: from the objects to the guest's QEMU. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import type { ControllerRevision } from '../../openapi/generated/types/apps_v1.js';
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { Cluster, eventually } from './harness.js';
import { virtualMachine, type Manifest } from './manifests.js';

const apiVersion = 'instancetype.kubevirt.io/v1beta1';
const csmall = {
  apiVersion,
  kind: 'VirtualMachineInstancetype',
  metadata: { name: 'csmall' },
  spec: { cpu: { guest: 1 }, memory: { guest: '128Mi' } },
};
const clarge = {
  apiVersion,
  kind: 'VirtualMachineClusterInstancetype',
  metadata: { name: 'clarge' },
  spec: { cpu: { guest: 4 }, memory: { guest: '2Gi', overcommitPercent: 95 } },
};
const legacy = {
  apiVersion,
  kind: 'VirtualMachinePreference',
  metadata: { name: 'legacy' },
  spec: {
    cpu: { preferredCPUTopology: 'cores' },
    devices: { preferredDiskBus: 'sata', preferredInterfaceModel: 'e1000' },
  },
};

/** @param ownMemory what the VM says besides, which conflicts with an instancetype */
function machine(name: string, references: object, ownMemory?: string): Manifest {
  const manifest = virtualMachine({ name, graceSeconds: 0 });
  const domain = {
    devices: { rng: {} },
    ...(ownMemory === undefined ? {} : { memory: { guest: ownMemory } }),
  };
  const { template } = manifest.spec as { template: { spec: { volumes: unknown } } };
  const { volumes } = template.spec;
  const spec = { terminationGracePeriodSeconds: 0, domain, volumes };
  return { ...manifest, spec: { runStrategy: 'Always', ...references, template: { spec } } };
}

test('VMs by instancetype and preference', async (t) => {
  const cluster = await Cluster.start(t, { fakeQemu: true });
  const vmi = (name: string): Promise<VirtualMachineInstance> => cluster.json(['get', 'vmi', name]);

  await t.test('a VM that comes before its instancetype waits for it', async () => {
    const own = { instancetype: { kind: 'VirtualMachineInstancetype', name: 'csmall' } };
    const { code, stderr } = await cluster.kubectl(
      ['create', '-f', '-'],
      JSON.stringify(machine('small', own)),
    );
    assert.equal(code, 0, stderr);
    assert.match(stderr, /Warning: spec\.instancetype\.name: VirtualMachineInstancetype "csmall" not found/);
    await cluster.wait(
      'vm/small',
      'jsonpath={.status.conditions[?(@.type=="Failure")].reason}=FailedFindInstancetype',
    );
    await cluster.create(csmall);
    await cluster.wait('vm/small', 'condition=Ready');
    const { domain } = (await vmi('small')).spec;
    assert.equal(domain.memory?.guest, '128Mi');
    assert.deepEqual([domain.cpu?.sockets, domain.cpu?.cores, domain.cpu?.threads], [1, 1, 1]);
  });

  await t.test('what conflicts is refused with its field, at creation and by expand-vm-spec', async () => {
    const own = { instancetype: { kind: 'VirtualMachineInstancetype', name: 'csmall' } };
    const manifest = JSON.stringify(machine('conflict', own, '128Mi'));
    const created = await cluster.kubectl(['create', '-f', '-'], manifest);
    assert.equal(created.code, 1);
    assert.match(created.stderr, /spec\.template\.spec\.domain\.memory\.guest: "128Mi" conflicts/);
    const path = '/apis/subresources.kubevirt.io/v1/namespaces/default/expand-vm-spec';
    const expanded = await cluster.kubectl(['replace', '--raw', path, '-f', '-'], manifest);
    assert.equal(expanded.code, 1);
    assert.match(expanded.stderr, /spec\.template\.spec\.domain\.memory\.guest/);
  });

  await t.test('CPU, memory and devices reach the guest', async () => {
    await cluster.create(clarge);
    await cluster.create(legacy);
    const references = {
      instancetype: { name: 'clarge' },
      preference: { kind: 'VirtualMachinePreference', name: 'legacy' },
    };
    await cluster.create(machine('large', references));
    await cluster.wait('vm/large', 'condition=Ready');
    const { metadata, spec } = await vmi('large');
    const { cpu, devices, memory, resources } = spec.domain;
    assert.deepEqual([cpu?.sockets, cpu?.cores, cpu?.threads], [1, 4, 1]);
    assert.equal(memory?.guest, '2Gi');
    assert.equal(resources?.requests?.['memory'], '107374182');
    assert.equal(devices.disks?.[0]?.disk?.bus, 'sata');
    assert.equal(devices.interfaces?.[0]?.model, 'e1000');
    assert.equal(metadata.annotations?.['kubevirt.io/cluster-instancetype-name'], 'clarge');
    assert.equal(metadata.annotations['kubevirt.io/preference-name'], 'legacy');
    const commandLines = cluster
      .processes('qemu')
      .map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '));
    assert.ok(
      commandLines.some((line) => /cores=4/.test(line) && /e1000/.test(line)),
      commandLines.join('\n'),
    );
  });

  await t.test('a VM goes on with its copy when the instancetype is gone', async () => {
    const vm = await cluster.json<VirtualMachine>(['get', 'vm', 'large']);
    const name = vm.status?.instancetypeRef?.controllerRevisionRef?.name ?? '';
    assert.match(name, /^large-clarge-v1beta1-/);
    const copy = await cluster.json<ControllerRevision>(['get', 'controllerrevision', name]);
    assert.equal(copy.metadata.ownerReferences?.[0]?.uid, vm.metadata.uid);
    await cluster.get(['delete', 'virtualmachineclusterinstancetype', 'clarge']);
    const before = await vmi('large');
    const restarted = await cluster.virt(['restart', 'large']);
    assert.equal(restarted.code, 0, restarted.stderr);
    await eventually(
      'a new VMI runs',
      async () => {
        const { code, stdout } = await cluster.kubectl(['get', 'vmi', 'large', '-o', 'json']);
        const now = code === 0 ? (JSON.parse(stdout) as VirtualMachineInstance) : before;
        return now.metadata.uid !== before.metadata.uid && now.status?.phase === 'Running';
      },
      90,
    );
    assert.equal((await vmi('large')).spec.domain.memory?.guest, '2Gi');
    const path = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/large/expand-spec';
    const expanded = JSON.parse(await cluster.get(['get', '--raw', path])) as VirtualMachine;
    assert.equal(expanded.spec.instancetype, undefined);
    assert.equal(expanded.spec.template.spec?.domain.memory?.guest, '2Gi');
  });

  await t.test('its copies go with the VM', async () => {
    await cluster.get(['delete', 'vm', 'large', 'small', '--timeout=60s']);
    await eventually(
      'no copy is left',
      async () => (await cluster.get(['get', 'controllerrevisions', '-o', 'name'])) === '',
    );
  });
});
