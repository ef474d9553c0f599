import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import {
  alias,
  createVm,
  createVmi,
  kubevirt,
  startServer,
  type Fixture,
} from '../../test/apiserver/subresources.js';
import type { Answer } from '../../test/apiserver/test-server.js';

const json = { 'content-type': 'application/json' };

/** A running instance of a VM, marked by an eviction. */
async function marked(t: TestContext): Promise<Fixture> {
  const server = await startServer(t);
  const vm = await createVm(server, 'a', 'Always');
  await createVmi(server, 'a', 'Running', 'node1', { vm });
  const body = JSON.stringify({ status: { evacuationNodeName: 'node1' } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const path = `${kubevirt}/virtualmachineinstances/a/status`;
  assert.equal((await server.request('PATCH', path, { token: 'admin', body, headers })).status, 200);
  return server;
}

const cancel = (server: Fixture, path: string, options?: object): Promise<Answer> =>
  server.request('PUT', `${path}/a/evacuate/cancel`, {
    token: 'admin',
    ...(options === undefined ? {} : { body: JSON.stringify(options), headers: json }),
  });

async function mark(server: Fixture): Promise<string | undefined> {
  const vmi = await server.registry.get<VirtualMachineInstance>({
    group: 'kubevirt.io',
    resource: 'virtualmachineinstances',
    namespace: 'default',
    name: 'a',
  });
  assert.equal(vmi?.status?.phase, 'Running');
  return vmi.status.evacuationNodeName;
}

test('an evacuation is called off, by the instance or by its VM, under both groups; once more does nothing', async (t) => {
  const server = await marked(t);
  assert.equal((await cancel(server, `${kubevirt}/virtualmachineinstances`)).status, 200);
  assert.equal(await mark(server), undefined);
  for (const path of [`${alias}/virtualmachines`, `${alias}/virtualmachineinstances`])
    assert.equal((await cancel(server, path, { evacuationNodeName: 'node1' })).status, 200);
});

test('only from the node that was named, and not in a dry run', async (t) => {
  const server = await marked(t);
  const vms = `${alias}/virtualmachines`;
  const other = await cancel(server, vms, { evacuationNodeName: 'node2' });
  assert.deepEqual([other.status, other.json().reason], [409, 'Conflict']);
  assert.match(other.text, /it is to leave node node1, not node2/);
  assert.equal((await cancel(server, vms, { dryRun: ['All'] })).status, 200);
  assert.equal(await mark(server), 'node1');
  assert.equal((await cancel(server, vms, { evacuationNodeName: 'node1', dryRun: ['Some'] })).status, 400);
  assert.equal((await cancel(server, vms, { evacuationNodeName: 1 })).status, 422);
  assert.equal((await cancel(server, vms, { evacuationNodeName: 'node1' })).status, 200);
  assert.equal(await mark(server), undefined);
});

test('what is not there can not be called off', async (t) => {
  const server = await startServer(t);
  assert.equal((await cancel(server, `${kubevirt}/virtualmachineinstances`)).status, 404);
  assert.equal((await cancel(server, `${kubevirt}/virtualmachines`)).status, 404);
  await createVm(server, 'a', 'Halted');
  assert.equal((await cancel(server, `${kubevirt}/virtualmachines`)).status, 409);
});

test('a node that is drained by its taint goes on being emptied', async (t) => {
  const server = await marked(t);
  await server.create('/apis/kubevirt.io/v1/namespaces/default/kubevirts', {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt' },
    spec: { configuration: { migrations: { nodeDrainTaintKey: 'example.org/drain' } } },
  });
  await server.create('/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node1' },
    spec: { taints: [{ key: 'example.org/drain', effect: 'NoSchedule' }] },
  });
  const refused = await cancel(server, `${kubevirt}/virtualmachineinstances`);
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.text, /node1 is being drained/);
});
