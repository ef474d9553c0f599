import assert from 'node:assert/strict';
import test from 'node:test';
import type { ControllerDependencies } from './dependencies.js';
import type { ControllerName } from './manager.js';
import { controllerRules, rulesFor } from './rbac.js';
import type { Client } from './runtime/client.js';
import type { Runnable } from './runtime/controller.js';
import {
  kubeVirts,
  nodes,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  storageClasses,
  virtualMachineInstanceMigrations,
  virtualMachineInstanceReplicaSets,
  virtualMachineInstances,
  virtualMachinePools,
  virtualMachines,
} from './runtime/kinds.js';
import { settle } from './runtime/testing/fake-clock.js';
import { createDisruptionController } from './disruption/disruption-controller.js';
import { createDisruptionBudgetController } from './disruption-budget/disruption-budget-controller.js';
import { createEvacuationController } from './evacuation/evacuation-controller.js';
import { createNodeController } from './node/node-controller.js';
import { createNodeLifecycleController } from './node-lifecycle/node-lifecycle-controller.js';
import { createPersistentVolumeController } from './persistent-volume/persistent-volume-controller.js';
import { standardStorageClass } from './persistent-volume/storage-class.js';
import { createPodGarbageController } from './pod-gc/pod-gc-controller.js';
import { createPoolController } from './pool/pool-controller.js';
import { createReplicaSetController } from './replica-set/replica-set-controller.js';
import { createSchedulerController } from './scheduler/scheduler.js';
import { Harness, guest } from './testing/harness.js';
import { createTaintEvictionController } from './taint-eviction/taint-eviction-controller.js';
import { createTopologyController } from './topology/topology-controller.js';
import { createVirtualMachineInstanceController } from './virtual-machine-instance/virtual-machine-instance-controller.js';
import { createVirtualMachineController } from './virtual-machine/virtual-machine-controller.js';
import { createWorkloadUpdater } from './workload-updater/workload-updater.js';

/** Fails any call that the controller's rules do not allow, by remembering it. */
function checked(client: Client, name: ControllerName, denied: Set<string>): Client {
  const check = (verb: string, kind: { group: string; resource: string }, subresource?: string): void => {
    const resource = subresource === undefined ? kind.resource : `${kind.resource}/${subresource}`;
    const allowed = controllerRules[name].some(
      ({ apiGroups = [], resources = [], verbs }) =>
        (apiGroups.includes('*') || apiGroups.includes(kind.group)) &&
        (resources.includes('*') || resources.includes(resource)) &&
        verbs.includes(verb),
    );
    if (!allowed) denied.add(`${name}: ${verb} ${resource}`);
  };
  return {
    get: (kind, key, signal) => (check('get', kind), client.get(kind, key, signal)),
    list: (kind, params, signal) => (check('list', kind), client.list(kind, params, signal)),
    watch: (kind, params, signal) => (check('watch', kind), client.watch(kind, params, signal)),
    create: (kind, object, signal) => (check('create', kind), client.create(kind, object, signal)),
    update: (kind, object, sub, signal) => (
      check('update', kind, sub),
      client.update(kind, object, sub, signal)
    ),
    patch: (kind, key, patch, sub, signal) => (
      check('patch', kind, sub),
      client.patch(kind, key, patch, sub, signal)
    ),
    delete: (kind, key, params, signal) => (check('delete', kind), client.delete(kind, key, params, signal)),
    post: (kind, key, method, sub, body, signal) => (
      check(method === 'POST' ? 'create' : 'update', kind, sub),
      client.post(kind, key, method, sub, body, signal)
    ),
  };
}

/** Controllers that may do what their rules allow; what else they try is remembered. */
const confinedTo =
  (denied: Set<string>) =>
  (name: ControllerName, create: (deps: ControllerDependencies) => Runnable) =>
  (deps: ControllerDependencies): Runnable =>
    create({ ...deps, client: checked(deps.client, name, denied) });

const directories = {
  pathOf: (volume: string) => `/volumes/${volume}`,
  create: () => Promise.resolve(),
  remove: () => Promise.resolve(),
};

test('the life of a VM needs no more than the controllers are allowed', async (t) => {
  const denied = new Set<string>();
  const harness = new Harness();
  t.after(() => harness.stop());
  const as = confinedTo(denied);
  await harness.createNode();
  await harness.client.create(storageClasses, standardStorageClass);
  await harness.start(
    as('virtual-machine', createVirtualMachineController),
    as('virtual-machine-instance', (deps) =>
      createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' }),
    ),
    as('scheduler', createSchedulerController),
    as('persistent-volume', (deps) => createPersistentVolumeController(deps, directories)),
    as('pod-gc', createPodGarbageController),
    as('node-lifecycle', createNodeLifecycleController),
  );
  await harness.client.create(persistentVolumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name: 'data' },
    spec: { resources: { requests: { storage: '1Gi' } } },
  });
  const volumes = [{ name: 'root', persistentVolumeClaim: { claimName: 'data' } }];
  await harness.createVm({ template: { spec: { ...guest(), volumes } } });
  await harness.startPod();
  await harness.startGuest();
  assert.equal(harness.vm()?.status?.printableStatus, 'Running');
  await harness.clock.advance(60_000);
  const key = { namespace: 'default', name: 'vm' };
  await harness.client.delete(virtualMachines, key);
  await settle();
  await harness.removePod();
  assert.equal(harness.client.find(virtualMachineInstances, key), undefined);
  assert.equal(harness.vm(), undefined);
  await harness.client.delete(persistentVolumeClaims, { namespace: 'default', name: 'data' });
  await settle();
  assert.equal(harness.client.all(persistentVolumeClaims).length, 0);
  assert.equal(harness.client.all(pods).length, 0);
  assert.deepEqual([...denied], []);
});

test('nor do replica sets and pools', async (t) => {
  const denied = new Set<string>();
  const harness = new Harness();
  t.after(() => harness.stop());
  const as = confinedTo(denied);
  await harness.start(
    as('replica-set', createReplicaSetController),
    as('pool', createPoolController),
    as('virtual-machine', createVirtualMachineController),
  );
  const metadata = { namespace: 'default', name: 'web' };
  const selector = { matchLabels: { app: 'web' } };
  const labels = { app: 'web' };
  const template = {
    metadata: { name: '', uid: '', resourceVersion: '', creationTimestamp: '', labels },
    spec: { ...guest(), volumes: [{ name: 'root', dataVolume: { name: 'disk' } }] },
  };
  await harness.client.create(virtualMachineInstances, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace: 'default', name: 'stray', labels },
    spec: guest(),
  });
  await harness.client.create(virtualMachineInstanceReplicaSets, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceReplicaSet',
    metadata,
    spec: { replicas: 2, selector, template },
  });
  const pool = await harness.client.create(virtualMachinePools, {
    apiVersion: 'pool.kubevirt.io/v1beta1',
    kind: 'VirtualMachinePool',
    metadata,
    spec: {
      replicas: 2,
      selector,
      scaleInStrategy: { proactive: { statePreservation: 'Offline' } },
      virtualMachineTemplate: {
        metadata: template.metadata,
        spec: { runStrategy: 'Always', template },
      },
    },
  });
  await settle();
  assert.equal(harness.client.all(virtualMachineInstances).length, 4);
  await harness.change(virtualMachineInstanceReplicaSets, 'web', (each) => ({
    ...each,
    spec: { ...each.spec, replicas: 1 },
  }));
  await harness.change(virtualMachinePools, 'web', (each) => ({
    ...each,
    metadata: { ...each.metadata, generation: 2 },
    spec: {
      ...pool.spec,
      replicas: 1,
      virtualMachineTemplate: {
        metadata: template.metadata,
        spec: { runStrategy: 'Always', template: { ...template, spec: { ...guest(), hostname: 'x' } } },
      },
    },
  }));
  await settle();
  assert.deepEqual([...denied], []);
});

test('nor do those that empty nodes, keep budgets, update launchers and watch over nodes', async (t) => {
  const denied = new Set<string>();
  const harness = new Harness();
  t.after(() => harness.stop());
  const as = confinedTo(denied);
  await harness.client.create(kubeVirts, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: {
      namespace: 'default',
      name: 'kubevirt',
      annotations: { 'nativirt.io/fast-failover': 'true' },
    },
    spec: { workloadUpdateStrategy: { workloadUpdateMethods: ['Evict'] } },
  });
  await harness.createNode();
  await harness.change(nodes, 'node1', ({ metadata, ...node }) => ({
    ...node,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, 'cpu-timer.node.kubevirt.io/tsc-frequency': '2000000000' },
    },
  }));
  await harness.start(
    as('node', createNodeController),
    as('disruption-budget', createDisruptionBudgetController),
    as('evacuation', createEvacuationController),
    as('workload-updater', (deps) => createWorkloadUpdater(deps, 'launcher:2')),
    as('topology', createTopologyController),
    as('virtual-machine-instance', (deps) =>
      createVirtualMachineInstanceController(deps, { launcherImage: 'launcher:1' }),
    ),
  );
  const key = { namespace: 'default', name: 'vm' };
  await harness.client.create(virtualMachineInstances, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { ...key, finalizers: ['kubevirt.io/foregroundDeleteVirtualMachine'] },
    spec: { ...guest(), evictionStrategy: 'External' },
  });
  await settle();
  await harness.bindAndRun();
  await harness.startGuest();
  const conditions = [{ type: 'LiveMigratable', status: 'True' }];
  await harness.setStatus(virtualMachineInstances, 'vm', { conditions, evacuationNodeName: 'node1' });
  await harness.change(virtualMachineInstances, 'vm', (vmi) => ({
    ...vmi,
    spec: { ...vmi.spec, evictionStrategy: 'LiveMigrate' },
  }));
  assert.equal(harness.client.all(podDisruptionBudgets).length, 1);
  assert.equal(harness.client.all(virtualMachineInstanceMigrations).length, 1);
  assert.notEqual(harness.vmi()?.metadata.labels?.['kubevirt.io/outdatedLauncherImage'], undefined);
  harness.client.remove(nodes, { name: 'node1' });
  await harness.clock.advance(120_000);
  assert.equal(harness.vmi()?.status?.phase, 'Failed');
  assert.equal(harness.client.all(podDisruptionBudgets).length, 0);
  assert.deepEqual([...denied], []);
});

test('nor do those that count budgets and heed taints', async (t) => {
  const denied = new Set<string>();
  const harness = new Harness();
  t.after(() => harness.stop());
  const as = confinedTo(denied);
  await harness.createNode();
  await harness.start(
    as('disruption', createDisruptionController),
    as('taint-eviction', createTaintEvictionController),
  );
  const metadata = { namespace: 'default', name: 'web', labels: { app: 'web' } };
  await harness.client.create(podDisruptionBudgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
  });
  await harness.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: { containers: [], nodeName: 'node1' },
  });
  await harness.change(nodes, 'node1', (node) => ({
    ...node,
    spec: { taints: [{ key: 'repair', effect: 'NoExecute' as const }] },
  }));
  const [pod] = harness.client.all(pods);
  assert.notEqual(pod?.metadata.deletionTimestamp, undefined);
  assert.equal(harness.client.all(podDisruptionBudgets)[0]?.status?.expectedPods, 1);
  assert.deepEqual([...denied], []);
});

test('rules of several controllers are joined without repetition', () => {
  const rules = rulesFor(['virtual-machine', 'scheduler']).map((rule) => JSON.stringify(rule));
  assert.equal(new Set(rules).size, rules.length);
  assert.ok(rules.some((rule) => rule.includes('pods/binding')));
  assert.ok(rules.some((rule) => rule.includes('leases')));
});
