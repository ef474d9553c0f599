import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { KubeVirtWorkloadUpdateStrategy } from '../../openapi/generated/types/kubevirt_v1.js';
import type { ControllerDependencies } from '../dependencies.js';
import { kubeVirts, pods, virtualMachineInstances } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { overriding } from '../runtime/testing/overriding.js';
import { statusError } from '../runtime/testing/status-error.js';
import { controllerReference } from '../runtime/writes.js';
import { Harness, guest } from '../testing/harness.js';
import { createWorkloadUpdater } from './workload-updater.js';

const updater = (deps: ControllerDependencies) => createWorkloadUpdater(deps, 'launcher:2');
const mark = 'kubevirt.io/outdatedLauncherImage';

interface Setup {
  readonly harness: Harness;
  /** Names of pods whose eviction was asked for, in order. */
  readonly evicted: string[];
}

async function started(t: TestContext, strategy?: KubeVirtWorkloadUpdateStrategy): Promise<Setup> {
  const harness = new Harness();
  const evicted: string[] = [];
  t.after(() => harness.stop());
  harness.through = (client) =>
    overriding(client, {
      post: async (kind, key, _method, subresource) => {
        assert.equal(subresource, 'eviction');
        evicted.push(key.name);
        if (key.name.endsWith('held')) throw statusError('TooManyRequests', kind, key.name);
        await client.delete(kind, key, { gracePeriodSeconds: 30 });
        return {};
      },
    });
  await harness.start(updater);
  await harness.client.create(kubeVirts, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { namespace: 'default', name: 'kubevirt' },
    spec: strategy === undefined ? {} : { workloadUpdateStrategy: strategy },
  });
  return { harness, evicted };
}

async function running(
  { harness }: Setup,
  name: string,
  { image = 'launcher:1', migratable = false, evictionStrategy = 'None' } = {},
): Promise<void> {
  const vmi = await harness.client.create(virtualMachineInstances, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace: 'default', name },
    spec: { ...guest(), evictionStrategy },
  });
  await harness.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'default',
      name: `virt-launcher-${name}`,
      labels: { 'kubevirt.io': 'virt-launcher' },
      ownerReferences: [controllerReference(vmi)],
    },
    spec: { containers: [{ name: 'compute', image }], nodeName: 'node1' },
  });
  const conditions = [{ type: 'LiveMigratable', status: migratable ? 'True' : 'False' }];
  await harness.setStatus(virtualMachineInstances, name, { phase: 'Running', conditions });
}

const labelsOf = ({ harness }: Setup, name: string) => harness.vmi(name)?.metadata.labels;

test('guests in launchers of another version are marked; without a method nothing is done to them', async (t) => {
  const setup = await started(t);
  await running(setup, 'old');
  await running(setup, 'new', { image: 'launcher:2' });
  assert.deepEqual(labelsOf(setup, 'old'), { [mark]: '' });
  assert.equal(labelsOf(setup, 'new'), undefined);
  await setup.harness.clock.advance(2000);
  const writes = setup.harness.client.writes.length;
  await setup.harness.clock.advance(3_600_000);
  assert.equal(setup.harness.client.writes.length, writes);
  assert.deepEqual(setup.evicted, []);
});

test('the KubeVirt object counts them, and is not written for each', async (t) => {
  const setup = await started(t);
  const { harness } = setup;
  for (const name of ['a', 'b', 'c']) await running(setup, name);
  await running(setup, 'new', { image: 'launcher:2' });
  await harness.clock.advance(2000);
  const [kubeVirt] = harness.client.all(kubeVirts);
  assert.equal(kubeVirt?.status?.outdatedVirtualMachineInstanceWorkloads, 3);
  assert.deepEqual(harness.writesOf(kubeVirts), ['create', 'patch/status']);
  await harness.client.delete(virtualMachineInstances, { namespace: 'default', name: 'a' });
  await harness.clock.advance(2000);
  assert.equal(harness.client.all(kubeVirts)[0]?.status?.outdatedVirtualMachineInstanceWorkloads, 2);
});

test('the mark goes with the old launcher', async (t) => {
  const setup = await started(t);
  await running(setup, 'old');
  await setup.harness.change(pods, 'virt-launcher-old', (pod) => ({
    ...pod,
    status: { phase: 'Succeeded' as const },
  }));
  const vmi = setup.harness.vmi('old');
  assert.ok(vmi);
  await setup.harness.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: 'default',
      name: 'virt-launcher-target',
      labels: { 'kubevirt.io': 'virt-launcher' },
      ownerReferences: [controllerReference(vmi)],
    },
    spec: { containers: [{ name: 'compute', image: 'launcher:2' }] },
  });
  await settle();
  assert.equal(labelsOf(setup, 'old')?.[mark], undefined);
});

test('evictions come in batches, the oldest guests first', async (t) => {
  const setup = await started(t, {
    workloadUpdateMethods: ['Evict'],
    batchEvictionSize: 2,
    batchEvictionInterval: '2m0s',
  });
  await setup.harness.stop();
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    await running(setup, name);
    await setup.harness.clock.advance(1000);
  }
  await setup.harness.start(updater);
  await setup.harness.clock.advance(0);
  assert.equal(setup.evicted.length, 2);
  await setup.harness.clock.advance(119_000);
  assert.equal(setup.evicted.length, 2);
  await setup.harness.clock.advance(1000);
  assert.equal(setup.evicted.length, 4);
  await setup.harness.clock.advance(120_000);
  assert.deepEqual(new Set(setup.evicted).size, 5);
  assert.equal(setup.evicted.length, 5, 'a pod that is on its way out is not evicted again');
});

test('a pod that is held is asked again in the next batch, and keeps no other back', async (t) => {
  const setup = await started(t, { workloadUpdateMethods: ['Evict'] });
  await running(setup, 'held');
  await setup.harness.clock.advance(1000);
  await running(setup, 'free');
  await setup.harness.clock.advance(60_000);
  await setup.harness.clock.advance(60_000);
  assert.ok(setup.evicted.filter((name) => name === 'virt-launcher-held').length >= 2);
  assert.equal(setup.evicted.filter((name) => name === 'virt-launcher-free').length, 1);
});

test('what can migrate is left to migrations where they are wanted; what must and can not is not asked', async (t) => {
  const setup = await started(t, { workloadUpdateMethods: ['LiveMigrate', 'Evict'] });
  await running(setup, 'migratable', { migratable: true });
  await running(setup, 'bound', { evictionStrategy: 'LiveMigrate' });
  await running(setup, 'external', { evictionStrategy: 'External' });
  await setup.harness.clock.advance(180_000);
  assert.deepEqual(new Set(setup.evicted), new Set(['virt-launcher-external']));
});
