import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Node, Pod } from '../../openapi/generated/types/core_v1.js';
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceMigration,
  VirtualMachineInstanceStatus,
} from '../../openapi/generated/types/kubevirt_v1.js';
import { timestamp } from '../runtime/clock.js';
import { findCondition } from '../runtime/conditions.js';
import {
  kubeVirts,
  nodes,
  pods,
  virtualMachineInstanceMigrations,
  virtualMachineInstances,
} from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { controllerReference } from '../runtime/writes.js';
import { Harness, guest } from '../testing/harness.js';
import { createEvacuationController } from './evacuation-controller.js';

const migratable = [{ type: 'LiveMigratable', status: 'True' }];

async function started(t: TestContext): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  for (const name of ['node1', 'node2']) await harness.createNode(name);
  await harness.start(createEvacuationController);
  return harness;
}

async function running(
  harness: Harness,
  name: string,
  { strategy = 'LiveMigrate', node = 'node1', conditions = migratable } = {},
): Promise<VirtualMachineInstance> {
  const vmi = await harness.client.create(virtualMachineInstances, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace: 'default', name },
    spec: { ...guest(), evictionStrategy: strategy },
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
    spec: { containers: [], nodeName: node },
  });
  await tell(harness, name, { phase: 'Running', nodeName: node, conditions });
  return vmi;
}

const tell = (harness: Harness, name: string, status: VirtualMachineInstanceStatus): Promise<void> =>
  harness.setStatus(virtualMachineInstances, name, status);

const migrations = (harness: Harness): VirtualMachineInstanceMigration[] =>
  harness.client.all(virtualMachineInstanceMigrations);
const moving = (harness: Harness): (string | undefined)[] =>
  migrations(harness)
    .map(({ spec }) => spec.vmiName)
    .sort();

async function taint(harness: Harness, key: string, node = 'node1'): Promise<void> {
  const taints = [{ key, effect: 'NoSchedule' }];
  await harness.change(nodes, node, (each) => ({ ...each, spec: { taints } }) as Node);
}

async function end(harness: Harness, vmi: string, phase: 'Succeeded' | 'Failed'): Promise<void> {
  const migration = migrations(harness).find(
    ({ spec, status }) => spec.vmiName === vmi && status?.phase === undefined,
  );
  const at = timestamp(harness.clock.now());
  await harness.setStatus(virtualMachineInstanceMigrations, migration?.metadata.name ?? '', {
    phase,
    phaseTransitionTimestamps: [{ phase, phaseTransitionTimestamp: at }],
  });
}

const annotation = (pod: Pod | undefined): string | undefined =>
  pod?.metadata.annotations?.['descheduler.alpha.kubernetes.io/eviction-in-progress'];

test('a VMI that an eviction has marked is moved, once, and says so until it has left', async (t) => {
  const harness = await started(t);
  await running(harness, 'a');
  await running(harness, 'b');
  await tell(harness, 'a', { evacuationNodeName: 'node1' });
  const [migration, ...others] = migrations(harness);
  assert.equal(others.length, 0);
  assert.equal(migration?.spec.vmiName, 'a');
  assert.equal(migration.metadata.annotations?.['kubevirt.io/evacuationMigration'], 'node1');
  const requested = () => findCondition(harness.vmi('a')?.status?.conditions, 'EvictionRequested')?.status;
  assert.equal(requested(), 'True');
  assert.equal(annotation(harness.launcher()), 'kubevirt');
  await harness.stop();
  await harness.start(createEvacuationController);
  assert.equal(migrations(harness).length, 1, 'a new process does not move it again');
  await end(harness, 'a', 'Succeeded');
  await tell(harness, 'a', { nodeName: 'node2' });
  assert.equal(harness.vmi('a')?.status?.evacuationNodeName, undefined);
  assert.equal(requested(), undefined);
  assert.equal(annotation(harness.launcher()), undefined);
  const writes = harness.client.writes.length;
  await tell(harness, 'a', { interfaces: [] });
  assert.equal(harness.client.writes.length, writes);
});

test('one whose evacuation is called off says so no longer, and is not moved again', async (t) => {
  const harness = await started(t);
  await running(harness, 'a');
  await tell(harness, 'a', { evacuationNodeName: 'node1' });
  // As `evacuate/cancel` leaves it, and whoever cancels the migration.
  harness.client.remove(virtualMachineInstanceMigrations, migrations(harness)[0]?.metadata ?? { name: '' });
  await harness.change(virtualMachineInstances, 'a', ({ status, ...vmi }) => {
    delete status?.evacuationNodeName;
    return { ...vmi, status };
  });
  assert.equal(findCondition(harness.vmi('a')?.status?.conditions, 'EvictionRequested'), undefined);
  assert.equal(annotation(harness.launcher()), undefined);
  assert.deepEqual(moving(harness), []);
});

test('the drain taint empties a node of all that may migrate', async (t) => {
  const harness = await started(t);
  await running(harness, 'a');
  await running(harness, 'b', { strategy: 'LiveMigrateIfPossible' });
  await running(harness, 'external', { strategy: 'External' });
  await running(harness, 'none', { strategy: 'None' });
  await running(harness, 'elsewhere', { node: 'node2' });
  await taint(harness, 'other');
  assert.deepEqual(moving(harness), []);
  await taint(harness, 'kubevirt.io/drain');
  assert.deepEqual(moving(harness), ['a', 'b']);
});

test('the key of the taint is configured', async (t) => {
  const harness = await started(t);
  await running(harness, 'a');
  await taint(harness, 'example.org/empty');
  await harness.client.create(kubeVirts, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { namespace: 'default', name: 'kubevirt' },
    spec: { configuration: { migrations: { nodeDrainTaintKey: 'example.org/empty' } } },
  });
  await settle();
  assert.deepEqual(moving(harness), ['a']);
});

test('no more migrate at a time than node and cluster allow; the next begins when one ends', async (t) => {
  const harness = await started(t);
  for (const name of ['a', 'b', 'c']) await running(harness, name);
  for (const name of ['d', 'e', 'f', 'g']) await running(harness, name, { node: 'node2' });
  await taint(harness, 'kubevirt.io/drain');
  assert.deepEqual(moving(harness), ['a', 'b']);
  await harness.client.create(kubeVirts, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { namespace: 'default', name: 'kubevirt' },
    spec: {
      configuration: {
        migrations: { parallelMigrationsPerCluster: 3, parallelOutboundMigrationsPerNode: 2 },
      },
    },
  });
  await taint(harness, 'kubevirt.io/drain', 'node2');
  assert.deepEqual(moving(harness), ['a', 'b', 'd'], 'the cluster allows three');
  await end(harness, 'a', 'Succeeded');
  await tell(harness, 'a', { nodeName: 'node3' });
  assert.equal(migrations(harness).length, 4);
});

test('a migration that failed is tried again after a growing delay', async (t) => {
  const harness = await started(t);
  await running(harness, 'a');
  await tell(harness, 'a', { evacuationNodeName: 'node1' });
  await end(harness, 'a', 'Failed');
  await harness.clock.advance(19_000);
  assert.equal(migrations(harness).length, 1);
  await harness.clock.advance(2000);
  assert.equal(migrations(harness).length, 2);
  await end(harness, 'a', 'Failed');
  await harness.clock.advance(39_000);
  assert.equal(migrations(harness).length, 2);
  await harness.clock.advance(2000);
  assert.equal(migrations(harness).length, 3);
});

test('a VMI that can not migrate is not shut down: it holds the node, and an event says so once', async (t) => {
  const harness = await started(t);
  await running(harness, 'a', { conditions: [{ type: 'LiveMigratable', status: 'False' }] });
  await taint(harness, 'kubevirt.io/drain');
  await tell(harness, 'a', { interfaces: [] });
  await harness.clock.advance(600_000);
  assert.deepEqual(harness.reasons, ['EvacuationBlocked']);
  assert.deepEqual(moving(harness), []);
  assert.equal(harness.vmi('a')?.metadata.deletionTimestamp, undefined);
  assert.equal(harness.client.all(pods).length, 1);
});
