import assert from 'node:assert/strict';
import test from 'node:test';
import { harness, instance, machine } from './testing/harness.js';

const leaving = (name: string, namespace: string, evacuationNodeName?: string) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name, namespace, uid: name },
  spec: {},
  status: { phase: 'Running', ...(evacuationNodeName === undefined ? {} : { evacuationNodeName }) },
});
const list = (...items: readonly unknown[]) => ({ apiVersion: 'v1', kind: 'List', metadata: {}, items });
const migration = (name: string, vmiName: string, phase?: string) => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstanceMigration',
  metadata: { name, namespace: 'vms', uid: name },
  spec: { vmiName },
  status: phase === undefined ? {} : { phase },
});

test('a guest is let stay, however it is named', async (t) => {
  const { run, server, terminal } = await harness(t);
  server.objects.set('virtualmachines/demo', machine('Running'));
  server.objects.set('virtualmachineinstances/demo', leaving('demo', 'vms', 'node1'));
  assert.equal(await run('evacuate-cancel', 'demo'), 0);
  assert.equal(await run('evacuate-cancel', 'vm', 'demo', '--dry-run'), 0);
  assert.match(terminal.said, /vms\/demo may stay where it is \(dry run\)/);
  const path = 'virtualmachineinstances/demo/evacuate/cancel';
  assert.deepEqual(server.actions, [
    { path, body: { evacuationNodeName: 'node1' } },
    { path, body: { evacuationNodeName: 'node1', dryRun: ['All'] } },
  ]);
});

test('all guests that are to leave a node, in all namespaces', async (t) => {
  const { run, server } = await harness(t);
  server.objects.set('/api/v1/nodes/node1', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node1' } });
  const guests = [
    leaving('a', 'x', 'node1'),
    leaving('b', 'y', 'node1'),
    leaving('c', 'x', 'node2'),
    leaving('d', 'x'),
  ];
  server.objects.set('/apis/kubevirt.io/v1/virtualmachineinstances', list(...guests));
  for (const words of [['node', 'node1'], ['node/node1']])
    assert.equal(await run('evacuate-cancel', ...words), 0);
  const of = (namespace: string, name: string): string =>
    `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/${name}/evacuate/cancel`;
  const both = [of('x', 'a'), of('y', 'b')];
  assert.deepEqual(
    server.actions.map(({ path }) => path),
    [...both, ...both],
  );
  assert.equal(await run('evacuate-cancel', 'node/other'), 1);
});

test('migrations that have begun end if that is asked for', async (t) => {
  const { run, server } = await harness(t);
  server.objects.set('virtualmachineinstances/demo', leaving('demo', 'vms', 'node1'));
  const migrations = [
    migration('m1', 'demo', 'Succeeded'),
    migration('m2', 'demo'),
    migration('m3', 'other'),
  ];
  server.objects.set('virtualmachineinstancemigrations', list(...migrations));
  for (const each of migrations)
    server.objects.set(`virtualmachineinstancemigrations/${each.metadata.name}`, each);
  assert.equal(await run('evacuate-cancel', 'demo'), 0);
  assert.equal(await run('evacuate-cancel', 'demo', '--migrate-cancel', '--dry-run'), 0);
  assert.deepEqual(server.deletions, []);
  assert.equal(await run('evacuate-cancel', 'vmi/demo', '--migrate-cancel'), 0);
  assert.deepEqual(server.deletions, ['virtualmachineinstancemigrations/m2']);
});

test('a machine that does not run, and a node without a name', async (t) => {
  const { run, server, terminal } = await harness(t);
  server.objects.set('virtualmachines/demo', machine('Stopped'));
  assert.equal(await run('evacuate-cancel', 'demo'), 1);
  assert.match(terminal.said, /"demo" in namespace "vms" is not running/);
  assert.equal(await run('evacuate-cancel', 'node/'), 2);
  server.objects.set('virtualmachineinstances/node', instance('Running'));
  assert.equal(await run('evacuate-cancel', 'node'), 0, 'a machine of that name');
});
