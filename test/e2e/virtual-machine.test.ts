/** A VM's life with the real QEMU and the real kubectl. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { converse } from './console.js';
import { Cluster, eventually } from './harness.js';
import { virtualMachine } from './manifests.js';

const userData = `#cloud-config
hostname: e2e
user: tester
password: secret
chpasswd: { expire: false }
runcmd:
  - echo ran-by-cloud-init > /dev/ttyS0
`;

test('a VM from creation to a login, through stop and start, to its end', async (t) => {
  const cluster = await Cluster.start(t);
  await cluster.create(virtualMachine({ name: 'demo', userData }));

  await t.test('it becomes Ready, and kubectl shows it', async () => {
    await cluster.wait('vm/demo', 'condition=Ready');
    assert.match(await cluster.get(['get', 'vm', 'demo', '--no-headers']), /^demo\s+\S+\s+Running\s+True/);
    const vmi = await cluster.json<VirtualMachineInstance>(['get', 'vmi', 'demo']);
    assert.equal(vmi.status?.phase, 'Running');
    assert.deepEqual(
      vmi.status.phaseTransitionTimestamps?.map(({ phase }) => phase),
      ['Pending', 'Scheduling', 'Scheduled', 'Running'],
    );
    assert.match(await cluster.get(['describe', 'vmi', 'demo']), /Guest started in QEMU/);
  });

  await t.test('its console leads to a shell, set up by cloud-init', async () => {
    const output = await converse(cluster, 'demo', [
      ['e2e login: ', 'tester\n'],
      ['assword: ', 'secret\n'],
      ['$ ', 'uname -s; echo host=$(hostname)\n'],
      ['Linux', ''],
      ['host=e2e', ''],
      ['$ ', 'exit\n'],
    ]);
    assert.match(output, /ran-by-cloud-init/);
  });

  await t.test('restart makes a new instance', async () => {
    const before = await cluster.json<VirtualMachineInstance>(['get', 'vmi', 'demo']);
    const result = await cluster.virt(['restart', 'demo']);
    assert.equal(result.code, 0, result.stderr);
    await eventually(
      'a new VMI runs',
      async () => {
        const { code, stdout } = await cluster.kubectl(['get', 'vmi', 'demo', '-o', 'json']);
        const now = code === 0 ? (JSON.parse(stdout) as VirtualMachineInstance) : undefined;
        return (
          now !== undefined && now.metadata.uid !== before.metadata.uid && now.status?.phase === 'Running'
        );
      },
      90,
    );
  });

  await t.test('stop powers the guest off within its grace period, start runs it again', async () => {
    const stopped = await cluster.virt(['stop', 'demo']);
    assert.equal(stopped.code, 0, stopped.stderr);
    await cluster.wait('vmi/demo', 'delete', 60);
    await cluster.wait('vm/demo', 'jsonpath={.status.printableStatus}=Stopped', 30);
    await eventually(
      'QEMU and its launcher are gone',
      () => cluster.processes('qemu').length + cluster.processes('launcher').length === 0,
    );
    const vm = await cluster.json<VirtualMachine>(['get', 'vm', 'demo']);
    assert.equal(vm.spec.runStrategy, 'Halted');
    const started = await cluster.virt(['start', 'demo']);
    assert.equal(started.code, 0, started.stderr);
    await cluster.wait('vm/demo', 'condition=Ready');
  });

  await t.test('delete takes everything with it', async () => {
    await cluster.get(['delete', 'vm', 'demo', '--timeout=90s']);
    await eventually(
      'nothing is left',
      async () => (await cluster.get(['get', 'vm,vmi,pod', '-o', 'name'])) === '',
    );
    await eventually(
      'no process is left',
      () => cluster.processes('qemu').length + cluster.processes('launcher').length === 0,
    );
  });
});
