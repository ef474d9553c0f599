/** Lives of replica sets and pools. */
import type { KubernetesObject } from '../../../openapi/meta.js';
import { createPoolController } from '../../pool/pool-controller.js';
import { createReplicaSetController } from '../../replica-set/replica-set-controller.js';
import type { Kind } from '../../runtime/client.js';
import {
  controllerRevisions,
  pods,
  virtualMachineInstanceReplicaSets,
  virtualMachineInstances,
  virtualMachinePools,
  virtualMachines,
} from '../../runtime/kinds.js';
import { createVirtualMachineController } from '../../virtual-machine/virtual-machine-controller.js';
import { guest, type Harness } from '../harness.js';
import { collecting, key, launching, unnamed, web, type Scenario } from './scenario.js';

const scale =
  <T extends KubernetesObject & { spec: { replicas?: number } }>(kind: Kind<T>, replicas: number) =>
  (harness: Harness): Promise<void> =>
    harness.change(kind, 'web', (set) => ({ ...set, spec: { ...set.spec, replicas } }));

const replicaSetLife: Scenario = {
  name: 'a replica set',
  controllers: {
    'replica-set': createReplicaSetController,
    ...launching,
    ...collecting(virtualMachineInstances, virtualMachineInstanceReplicaSets),
  },
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
          selector: { matchLabels: web },
          template: { metadata: { ...unnamed, labels: web }, spec: guest() },
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
  return { metadata: { ...unnamed, labels: web }, spec: { runStrategy: 'Always', template: { spec } } };
};

const poolLife: Scenario = {
  name: 'a pool',
  controllers: {
    pool: createPoolController,
    'virtual-machine': createVirtualMachineController,
    ...launching,
    ...collecting(virtualMachines, virtualMachinePools),
  },
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
          selector: { matchLabels: web },
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

export const setScenarios: readonly Scenario[] = [replicaSetLife, poolLife];
