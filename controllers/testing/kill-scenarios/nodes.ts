/** Lives of nodes: emptied, silent, tainted, updated, and with clocks of their own. */
import type { Node } from '../../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstanceStatus } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../../../openapi/meta.js';
import { createDisruptionController } from '../../disruption/disruption-controller.js';
import { createEvacuationController } from '../../evacuation/evacuation-controller.js';
import { createNodeController } from '../../node/node-controller.js';
import { createNodeLifecycleController } from '../../node-lifecycle/node-lifecycle-controller.js';
import { createPodGarbageController } from '../../pod-gc/pod-gc-controller.js';
import type { Kind } from '../../runtime/client.js';
import {
  kubeVirts,
  nodes,
  podDisruptionBudgets,
  pods,
  virtualMachineInstanceMigrations,
  virtualMachineInstances,
} from '../../runtime/kinds.js';
import { controllerReference } from '../../runtime/writes.js';
import { createTaintEvictionController } from '../../taint-eviction/taint-eviction-controller.js';
import { createTopologyController } from '../../topology/topology-controller.js';
import { createWorkloadUpdater } from '../../workload-updater/workload-updater.js';
import { guest, type Harness } from '../harness.js';
import { advance, key, patiently, web, type Scenario } from './scenario.js';

const both = ['a', 'b'] as const;

/** An instance with its launcher on node1, as other controllers and the node agent leave them. */
async function runInstance(
  harness: Harness,
  name: string,
  status: VirtualMachineInstanceStatus = {},
): Promise<void> {
  const vmi = await harness.client.create(virtualMachineInstances, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: key(name),
    spec: { ...guest(), evictionStrategy: status.conditions === undefined ? 'None' : 'LiveMigrate' },
  });
  await harness.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...key(`virt-launcher-${name}`),
      labels: { 'kubevirt.io': 'virt-launcher' },
      ownerReferences: [controllerReference(vmi)],
    },
    spec: { containers: [{ name: 'compute', image: 'launcher' }], nodeName: 'node1' },
  });
  await harness.setStatus(virtualMachineInstances, name, { phase: 'Running', nodeName: 'node1', ...status });
}

async function runBoth(harness: Harness, status?: VirtualMachineInstanceStatus): Promise<void> {
  for (const name of both) await runInstance(harness, name, status);
}

const annotate = <T extends KubernetesObject>(
  harness: Harness,
  kind: Kind<T>,
  name: string,
  annotations: Record<string, string>,
): Promise<void> =>
  harness.change(kind, name, (object) => ({ ...object, metadata: { ...object.metadata, annotations } }));

const taint =
  (taintKey: string, effect: 'NoSchedule' | 'NoExecute' = 'NoSchedule') =>
  (harness: Harness): Promise<void> =>
    harness.change(nodes, 'node1', (node) => {
      const taints = [...(node.spec?.taints ?? []), { key: taintKey, effect }];
      return { ...node, spec: { ...node.spec, taints } };
    });

/** Whoever carries migrations out has done so. */
async function migrate(harness: Harness): Promise<void> {
  for (const { metadata, spec, status } of harness.client.all(virtualMachineInstanceMigrations)) {
    if (status?.phase !== undefined) continue;
    await harness.setStatus(virtualMachineInstances, spec.vmiName ?? '', { nodeName: 'node2' });
    await harness.setStatus(virtualMachineInstanceMigrations, metadata.name, { phase: 'Succeeded' });
  }
}

const evacuation: Scenario = {
  name: 'a node that is emptied',
  controllers: { evacuation: createEvacuationController },
  kinds: [virtualMachineInstanceMigrations, virtualMachineInstances, pods],
  pods: false,
  async prepare(harness) {
    for (const name of ['node1', 'node2']) await harness.createNode(name);
    await runBoth(harness, { conditions: [{ type: 'LiveMigratable', status: 'True' }] });
  },
  steps: [
    (harness) => harness.setStatus(virtualMachineInstances, 'a', { evacuationNodeName: 'node1' }),
    migrate,
    taint('kubevirt.io/drain'),
    migrate,
  ],
};

const silence: Scenario = {
  name: 'a node that falls silent and is fenced',
  controllers: {
    node: createNodeController,
    'node-lifecycle': createNodeLifecycleController,
    'taint-eviction': createTaintEvictionController,
    'pod-gc': createPodGarbageController,
  },
  kinds: [nodes, virtualMachineInstances, pods],
  pods: false,
  async prepare(harness) {
    await harness.createNode();
    await annotate(harness, nodes, 'node1', { 'kubevirt.io/heartbeat': '2026-01-02T03:04:05Z' });
    await runBoth(harness);
    const conditions = [{ type: 'Ready', status: 'True' }];
    for (const name of both) {
      await harness.setStatus(pods, `virt-launcher-${name}`, { conditions });
      await annotate(harness, virtualMachineInstances, name, { 'nativirt.io/fast-failover': 'true' });
    }
  },
  steps: [
    ...patiently(100_000),
    taint('node.kubernetes.io/out-of-service', 'NoExecute'),
    ...patiently(100_000),
  ],
};

const budget: Scenario = {
  name: 'a budget whose pods leave a tainted node',
  controllers: { disruption: createDisruptionController, 'taint-eviction': createTaintEvictionController },
  kinds: [podDisruptionBudgets, pods],
  pods: true,
  async prepare(harness) {
    await harness.createNode();
    await harness.client.create(podDisruptionBudgets, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: key('web'),
      spec: { maxUnavailable: 1, selector: { matchLabels: web } },
    });
  },
  steps: [
    async (harness) => {
      for (const [name, tolerationSeconds] of [
        ['a', 0],
        ['b', 5],
      ] as const)
        await harness.client.create(pods, {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { ...key(name), labels: web },
          spec: {
            containers: [],
            nodeName: 'node1',
            tolerations: [{ key: 'repair', operator: 'Exists', tolerationSeconds }],
          },
        });
    },
    taint('repair', 'NoExecute'),
    ...patiently(5000),
  ],
};

const clocked = (name: string, frequency: string): Partial<Node> => ({
  metadata: {
    name,
    uid: '',
    resourceVersion: '',
    creationTimestamp: '',
    labels: {
      'kubevirt.io/schedulable': 'true',
      'cpu-timer.node.kubevirt.io/tsc-frequency': frequency,
      'cpu-timer.node.kubevirt.io/tsc-scalable': 'true',
    },
  },
});

const topology: Scenario = {
  name: 'nodes with clocks',
  controllers: { topology: createTopologyController },
  kinds: [nodes],
  pods: false,
  prepare: (harness) => harness.createNode('node1', clocked('node1', '3000000000')),
  steps: [
    (harness) => harness.createNode('node2', clocked('node2', '2000000000')),
    (harness) => runInstance(harness, 'a', { topologyHints: { tscFrequency: 2_500_000_000 } }),
    (harness) => harness.client.delete(virtualMachineInstances, key('a')),
    (harness) => harness.client.delete(nodes, { name: 'node2' }),
  ],
};

const update: Scenario = {
  name: 'launchers of an older version',
  controllers: { 'workload-updater': (deps) => createWorkloadUpdater(deps, 'launcher:new') },
  kinds: [virtualMachineInstances, pods],
  pods: true,
  prepare: (harness) => harness.createNode(),
  steps: [
    (harness) => runBoth(harness),
    (harness) =>
      harness.client.create(kubeVirts, {
        apiVersion: 'kubevirt.io/v1',
        kind: 'KubeVirt',
        metadata: key('kubevirt'),
        spec: { workloadUpdateStrategy: { workloadUpdateMethods: ['Evict'], batchEvictionSize: 1 } },
      }),
    ...patiently(60_000),
    advance(60_000),
  ],
};

export const nodeScenarios: readonly Scenario[] = [evacuation, silence, budget, topology, update];
