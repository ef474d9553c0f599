/** What a user does with a machine: takes guests off a node, holds some back, and shuts it down. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { Cluster, eventually } from './harness.js';
import { virtualMachine } from './manifests.js';

interface Found {
  readonly uid: string;
  readonly phase: string;
  readonly node: string;
}

/** What there is of the instance; all empty if there is none. */
async function instance(cluster: Cluster, name: string): Promise<Found> {
  const { code, stdout } = await cluster.kubectl(['get', 'vmi', name, '-o', 'json']);
  if (code !== 0) return { uid: '', phase: '', node: '' };
  const { metadata, status } = JSON.parse(stdout) as VirtualMachineInstance;
  return { uid: metadata.uid, phase: status?.phase ?? '', node: status?.nodeName ?? '' };
}

async function runsAnew(cluster: Cluster, name: string, before: Found): Promise<Found> {
  let now = before;
  await eventually(
    `a new guest of ${name}`,
    async () => {
      now = await instance(cluster, name);
      return now.phase === 'Running' && now.uid !== before.uid;
    },
    120,
  );
  return now;
}

test('a tainted node loses its guests; budgets hold evictions; a shutdown ends guests that run again afterwards', async (t) => {
  const flags = ['--nodes', '2', '--end-guests', 'always', '--shutdown-grace-period', '20s'];
  const cluster = await Cluster.start(t, { fakeQemu: true, flags });
  await cluster.create(virtualMachine({ name: 'always' }));
  await cluster.wait('vm/always', 'condition=Ready');

  await t.test('NoExecute', async () => {
    const before = await instance(cluster, 'always');
    await cluster.get(['taint', 'node', before.node, 'repair=disk:NoExecute']);
    const after = await runsAnew(cluster, 'always', before);
    assert.notEqual(after.node, before.node);
    await cluster.get(['taint', 'node', before.node, 'repair-']);
  });

  await t.test('a budget', async () => {
    for (const runStrategy of ['RerunOnFailure', 'Manual'])
      await cluster.create(virtualMachine({ name: runStrategy.toLowerCase(), runStrategy }));
    await cluster.virt(['start', 'manual']);
    const budget = [
      'create',
      'pdb',
      'all',
      '--selector',
      'kubevirt.io=virt-launcher',
      '--min-available',
      '100%',
    ];
    await cluster.get(budget);
    await cluster.wait('pdb/all', 'jsonpath={.status.currentHealthy}=3');
    const { node, uid } = await instance(cluster, 'always');
    const drain = [
      'drain',
      node,
      '--pod-selector',
      'kubevirt.io=virt-launcher',
      '--delete-emptydir-data',
      '--force',
    ];
    const held = await cluster.kubectl([...drain, '--timeout', '3s']);
    assert.notEqual(held.code, 0);
    assert.match(held.stderr, /disruption budget|timed out|global timeout/);
    assert.equal((await instance(cluster, 'always')).uid, uid);
    await cluster.get(['delete', 'pdb', 'all']);
    await cluster.get(['uncordon', node]);
  });

  await t.test('shutdown', async () => {
    const names = ['always', 'rerunonfailure'];
    const before = await Promise.all(names.map((name) => instance(cluster, name)));
    await cluster.kill('SIGTERM');
    assert.deepEqual(cluster.processes('qemu'), []);
    assert.deepEqual(cluster.processes('launcher'), []);
    await cluster.start();
    for (const [index, found] of before.entries()) await runsAnew(cluster, names[index] ?? '', found);
    await cluster.wait('vm/manual', 'jsonpath={.status.printableStatus}=Stopped');
  });
});
