/** Lives in which every controller that writes has something to do. */
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../../openapi/meta.js';
import type { ControllerDependencies } from '../dependencies.js';
import { createDisruptionBudgetController } from '../disruption-budget/disruption-budget-controller.js';
import { createGarbageCollector } from '../garbage-collector/garbage-collector.js';
import { createPersistentVolumeController } from '../persistent-volume/persistent-volume-controller.js';
import { standardStorageClass } from '../persistent-volume/storage-class.js';
import { createPodGarbageController } from '../pod-gc/pod-gc-controller.js';
import { createPoolController } from '../pool/pool-controller.js';
import { createReplicaSetController } from '../replica-set/replica-set-controller.js';
import type { Kind } from '../runtime/client.js';
import type { Runnable } from '../runtime/controller.js';
import {
  controllerRevisions,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  storageClasses,
  virtualMachineClusterInstancetypes,
  virtualMachineInstanceReplicaSets,
  virtualMachineInstances,
  virtualMachinePools,
  virtualMachines,
} from '../runtime/kinds.js';
import { createSchedulerController } from '../scheduler/scheduler.js';
import { createVirtualMachineInstanceController } from '../virtual-machine-instance/virtual-machine-instance-controller.js';
import { createVirtualMachineController } from '../virtual-machine/virtual-machine-controller.js';
import { discovering } from './fake-discovery.js';
import { guest, type Harness } from './harness.js';

export interface Scenario {
  readonly name: string;
  readonly controllers: readonly ((deps: ControllerDependencies) => Runnable)[];
  /** Whose births and end are compared. */
  readonly kinds: readonly Kind<KubernetesObject>[];
  /** A node runs the pods that are bound to it. */
  readonly pods: boolean;
  prepare(harness: Harness): Promise<unknown>;
  /** Between them everything settles. */
  readonly steps: readonly ((harness: Harness) => Promise<unknown>)[];
}

const key = (name: string) => ({ namespace: 'default', name });
/** Templates have no identity, though their type knows the fields. */
const unnamed = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' };
const labels = { app: 'web' };
const launching = [
  (deps: ControllerDependencies) =>
    createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' }),
  createSchedulerController,
];
const collecting = (...kinds: readonly Kind<KubernetesObject>[]) => {
  const discovery = discovering(...kinds);
  return (deps: ControllerDependencies) => createGarbageCollector(deps, discovery);
};

const respec =
  (change: Partial<VirtualMachine['spec']>) =>
  (harness: Harness): Promise<void> =>
    harness.change(virtualMachines, 'vm', (vm) => ({
      ...vm,
      metadata: { ...vm.metadata, generation: (vm.metadata.generation ?? 0) + 1 },
      spec: { ...vm.spec, ...change },
    }));

/** As the subresource leaves it. */
const restart = (harness: Harness): Promise<void> =>
  harness.change(virtualMachines, 'vm', (vm) => ({
    ...vm,
    status: {
      ...vm.status,
      stateChangeRequests: [{ action: 'Stop', uid: harness.vmi()?.metadata.uid ?? '' }, { action: 'Start' }],
    },
  }));

const machineLife: Scenario = {
  name: 'a VM',
  controllers: [createVirtualMachineController, ...launching],
  kinds: [virtualMachines, virtualMachineInstances, pods],
  pods: true,
  prepare: (harness) => harness.createNode(),
  steps: [
    (harness) => harness.createVm(),
    restart,
    respec({ runStrategy: 'Halted' }),
    respec({ runStrategy: 'Always' }),
    (harness) => harness.endGuest('Failed'),
    (harness) => harness.client.delete(virtualMachines, key('vm')),
  ],
};

const instancetypeLife: Scenario = {
  name: 'a VM with an instancetype',
  controllers: [createVirtualMachineController, ...launching],
  kinds: [virtualMachines, virtualMachineInstances, pods, controllerRevisions],
  pods: true,
  async prepare(harness) {
    await harness.createNode();
    for (const [name, cpus] of [
      ['small', 2],
      ['large', 4],
    ] as const)
      await harness.client.create(virtualMachineClusterInstancetypes, {
        apiVersion: 'instancetype.kubevirt.io/v1beta1',
        kind: 'VirtualMachineClusterInstancetype',
        metadata: { name },
        spec: { cpu: { guest: cpus }, memory: { guest: '128Mi' } },
      });
  },
  steps: [
    (harness) => {
      const { domain, ...spec } = guest();
      const { devices } = domain;
      return harness.createVm({
        instancetype: { name: 'small' },
        template: { spec: { ...spec, domain: { devices } } },
      });
    },
    respec({ instancetype: { name: 'large' } }),
    restart,
  ],
};

const instanceLife: Scenario = {
  name: 'an instance that no eviction may end',
  controllers: [...launching, createDisruptionBudgetController, createPodGarbageController],
  kinds: [virtualMachineInstances, pods, podDisruptionBudgets],
  pods: true,
  prepare: (harness) => harness.createNode(),
  steps: [
    (harness) =>
      harness.client.create(virtualMachineInstances, {
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachineInstance',
        metadata: key('vmi'),
        spec: { ...guest(), evictionStrategy: 'External' },
      }),
    (harness) => harness.client.delete(virtualMachineInstances, key('vmi')),
    (harness) =>
      harness.client.create(virtualMachineInstances, {
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachineInstance',
        metadata: key('vmi'),
        spec: guest(),
      }),
    (harness) => harness.client.delete(nodes, { name: 'node1' }),
    // A controller that has just been started gives the node time to come back.
    (harness) => harness.clock.advance(60_000),
    (harness) => harness.clock.advance(60_000),
  ],
};

const scale =
  <T extends KubernetesObject & { spec: { replicas?: number } }>(kind: Kind<T>, replicas: number) =>
  (harness: Harness): Promise<void> =>
    harness.change(kind, 'web', (set) => ({ ...set, spec: { ...set.spec, replicas } }));

const replicaSetLife: Scenario = {
  name: 'a replica set',
  controllers: [
    createReplicaSetController,
    ...launching,
    collecting(virtualMachineInstances, virtualMachineInstanceReplicaSets),
  ],
  kinds: [virtualMachineInstanceReplicaSets, virtualMachineInstances, pods],
  pods: true,
  prepare: (harness) => harness.createNode(),
  steps: [
    (harness) =>
      harness.client.create(virtualMachineInstanceReplicaSets, {
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachineInstanceReplicaSet',
        metadata: key('web'),
        spec: {
          replicas: 3,
          selector: { matchLabels: labels },
          template: { metadata: { ...unnamed, labels }, spec: guest() },
        },
      }),
    scale(virtualMachineInstanceReplicaSets, 1),
    scale(virtualMachineInstanceReplicaSets, 2),
    (harness) => harness.client.delete(virtualMachineInstanceReplicaSets, key('web')),
  ],
};

const poolTemplate = (memory: string) => {
  const { domain, ...rest } = guest();
  const spec = { ...rest, domain: { ...domain, memory: { guest: memory } } };
  return { metadata: { ...unnamed, labels }, spec: { runStrategy: 'Always', template: { spec } } };
};

const poolLife: Scenario = {
  name: 'a pool',
  controllers: [
    createPoolController,
    createVirtualMachineController,
    ...launching,
    collecting(virtualMachines, virtualMachinePools),
  ],
  kinds: [virtualMachinePools, virtualMachines, virtualMachineInstances, pods, controllerRevisions],
  pods: true,
  prepare: (harness) => harness.createNode(),
  steps: [
    (harness) =>
      harness.client.create(virtualMachinePools, {
        apiVersion: 'pool.kubevirt.io/v1beta1',
        kind: 'VirtualMachinePool',
        metadata: key('web'),
        spec: {
          replicas: 2,
          selector: { matchLabels: labels },
          virtualMachineTemplate: poolTemplate('128Mi'),
        },
      }),
    (harness) =>
      harness.change(virtualMachinePools, 'web', (pool) => ({
        ...pool,
        metadata: { ...pool.metadata, generation: 2 },
        spec: { ...pool.spec, virtualMachineTemplate: poolTemplate('256Mi') },
      })),
    scale(virtualMachinePools, 1),
    (harness) => harness.client.delete(virtualMachinePools, key('web')),
  ],
};

/** Directories that are always there. */
const directories = {
  pathOf: (volume: string) => `/volumes/${volume}`,
  create: () => Promise.resolve(),
  remove: () => Promise.resolve(),
};

const claimLife: Scenario = {
  name: 'a claim',
  controllers: [
    (deps: ControllerDependencies) => createPersistentVolumeController(deps, directories),
    createSchedulerController,
  ],
  kinds: [persistentVolumeClaims, persistentVolumes],
  pods: false,
  prepare: (harness) => harness.client.create(storageClasses, standardStorageClass),
  steps: [
    (harness) =>
      harness.client.create(persistentVolumeClaims, {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: key('data'),
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      }),
    (harness) => harness.client.delete(persistentVolumeClaims, key('data')),
  ],
};

export const scenarios: readonly Scenario[] = [
  machineLife,
  instancetypeLife,
  instanceLife,
  replicaSetLife,
  poolLife,
  claimLife,
];
