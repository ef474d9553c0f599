/** Lives of VMs and of their instances, and of claims. */
import type { VirtualMachine } from '../../../openapi/generated/types/kubevirt_v1.js';
import { createDisruptionBudgetController } from '../../disruption-budget/disruption-budget-controller.js';
import { createPersistentVolumeController } from '../../persistent-volume/persistent-volume-controller.js';
import { standardStorageClass } from '../../persistent-volume/storage-class.js';
import { createPodGarbageController } from '../../pod-gc/pod-gc-controller.js';
import {
  controllerRevisions,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  podDisruptionBudgets,
  pods,
  storageClasses,
  virtualMachineClusterInstancetypes,
  virtualMachineInstances,
  virtualMachines,
} from '../../runtime/kinds.js';
import { createSchedulerController } from '../../scheduler/scheduler.js';
import { createVirtualMachineController } from '../../virtual-machine/virtual-machine-controller.js';
import { guest, type Harness } from '../harness.js';
import { SimulatedUser } from '../simulated-user.js';
import { advance, key, launching, type Scenario } from './scenario.js';

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
  controllers: { 'virtual-machine': createVirtualMachineController, ...launching },
  kinds: [virtualMachines, virtualMachineInstances, pods, controllerRevisions],
  pods: true,
  async prepare(harness) {
    await harness.createNode();
    await harness.client.create(persistentVolumeClaims, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: key('data'),
      status: { phase: 'Bound' },
    });
  },
  steps: [
    (harness) => harness.createVm(),
    respec({ template: { spec: { ...guest(), nodeSelector: { 'kubernetes.io/hostname': 'node1' } } } }),
    (harness) => {
      new SimulatedUser(harness.client).askForVolume();
      return Promise.resolve();
    },
    restart,
    respec({ runStrategy: 'Halted' }),
    respec({ runStrategy: 'Always' }),
    (harness) => harness.endGuest('Failed'),
    (harness) => harness.client.delete(virtualMachines, key('vm')),
  ],
};

const instancetypeLife: Scenario = {
  name: 'a VM with an instancetype',
  controllers: { 'virtual-machine': createVirtualMachineController, ...launching },
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
  controllers: {
    ...launching,
    'disruption-budget': createDisruptionBudgetController,
    'pod-gc': createPodGarbageController,
  },
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
    advance(60_000),
    advance(60_000),
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
  controllers: {
    'persistent-volume': (deps) => createPersistentVolumeController(deps, directories),
    scheduler: createSchedulerController,
  },
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

export const machineScenarios: readonly Scenario[] = [machineLife, instancetypeLife, instanceLife, claimLife];
