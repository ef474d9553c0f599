/** Quotas of the cluster count virtual machines that are created through the front proxy. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ResourceQuota } from '../../openapi/generated/types/core_v1.js';
import type { New } from '../../openapi/meta.js';
import { requestOf, type Answer } from '../apiserver/test-server.js';
import { eventually } from '../e2e/harness.js';
import { startCluster, type TestCluster } from './cluster.js';

const admin = { name: 'admin', groups: ['system:masters'], extra: {} };
const machines = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines';
const count = 'count/virtualmachines.kubevirt.io';
const target = { group: '', resource: 'resourcequotas', namespace: 'default', name: 'machines' };

let cluster: TestCluster;

before(async () => {
  cluster = await startCluster();
  const quota: New<ResourceQuota> = {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: target.name },
    spec: { hard: { [count]: '3' } },
  };
  await cluster.core.registry.create(target, quota, { user: admin });
  await recount({ [count]: '0' });
});

after(() => cluster.close());

/** As the controller manager of the cluster does. */
async function recount(used: Record<string, string>): Promise<void> {
  await cluster.core.registry.guaranteedUpdate<ResourceQuota>(
    target,
    (quota) => ({ ...quota, status: { hard: quota.spec?.hard ?? {}, used } }),
    { user: admin, subresource: 'status' },
  );
}

async function used(): Promise<unknown> {
  return (await cluster.core.registry.get<ResourceQuota>(target))?.status?.used?.[count];
}

function create(name: string, query = ''): Promise<Answer> {
  return requestOf(cluster)('POST', `${machines}${query}`, {
    token: 'admin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: { name },
      spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
    }),
  });
}

test('as many are let in as the quota has room for, however many come at once', async () => {
  await eventually('the quota counts', async () => {
    await create('first');
    await requestOf(cluster)('DELETE', `${machines}/first`, { token: 'admin' });
    return (await used()) === '0' ? undefined : true;
  });
  await recount({ [count]: '0' });
  assert.equal((await create('dry', '?dryRun=All')).status, 201);
  assert.equal(await used(), '0', 'a dry run does not count');
  const answers = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => create(name)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 201, 201, 403, 403]);
  assert.equal(await used(), '3');
  const refused = await create('f');
  assert.deepEqual(
    [refused.json().reason, refused.json().message],
    [
      'Forbidden',
      `virtualmachines.kubevirt.io "f" is forbidden: exceeded quota: machines, requested: ${count}=1, used: ${count}=3, limited: ${count}=3`,
    ],
  );
});

test('what our own rules refuse is not counted', async () => {
  await recount({ [count]: '1' });
  const refused = await requestOf(cluster)('POST', machines, {
    token: 'admin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: { name: 'wrong' },
      spec: { template: { spec: { domain: { devices: {} } } } },
    }),
  });
  assert.equal(refused.status, 422);
  assert.equal(await used(), '1');
});

test('room that the controller manager makes is used', async () => {
  await recount({ [count]: '3' });
  assert.equal((await create('late')).status, 403);
  await recount({ [count]: '2' });
  assert.equal((await create('late')).status, 201);
  assert.equal(await used(), '3');
});
