/** Lives of namespaces, owners, an installation and its certificates, and of pods that others have to make room for. */
import assert from 'node:assert/strict';
import { defaultRotation } from '../../../apiserver/pki/rotation.js';
import {
  certificateKeys,
  certificateSecrets,
  injectAuthoritiesLabel,
} from '../../../openapi/certificates.js';
import type { KubernetesObject } from '../../../openapi/meta.js';
import type { Authority } from '../../certificates/authorities.js';
import { createCertificatesController } from '../../certificates/certificates-controller.js';
import { apiServices } from '../../certificates/kinds.js';
import { createKubeVirtController } from '../../kubevirt/kubevirt-controller.js';
import { deployments } from '../../kubevirt/workloads.js';
import { createNamespaceController } from '../../namespace/namespace-controller.js';
import type { Kind } from '../../runtime/client.js';
import { configMaps, kubeVirts, namespaces, pods, priorityClasses, secrets } from '../../runtime/kinds.js';
import { createSchedulerController } from '../../scheduler/scheduler.js';
import { discovering } from '../fake-discovery.js';
import type { Harness } from '../harness.js';
import { collecting, key, patiently, type Scenario } from './scenario.js';

interface Plain extends KubernetesObject {
  readonly data?: Record<string, string>;
}

function make(
  harness: Harness,
  kind: Kind<Plain>,
  name: string,
  metadata: Partial<KubernetesObject['metadata']> = {},
): Promise<Plain> {
  return harness.client.create<Plain>(kind, {
    apiVersion: 'v1',
    kind: kind.kind,
    metadata: { ...key(name), ...metadata },
  });
}

const ending: Scenario = {
  name: 'a namespace that ends',
  controllers: {
    namespace: (deps) => createNamespaceController(deps, discovering(configMaps, secrets)),
  },
  kinds: [namespaces, configMaps, secrets],
  pods: false,
  prepare: (harness) =>
    harness.client.create(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'default' },
      spec: { finalizers: ['kubernetes'] },
    }),
  steps: [
    async (harness) => {
      await make(harness, configMaps, 'a');
      await make(harness, configMaps, 'held', { finalizers: ['example.org/backup'] });
      await make(harness, secrets, 'b');
      await make(harness, secrets, 'b', { namespace: 'other' });
    },
    // What the API server does with a DELETE of a namespace.
    (harness) =>
      harness.change(namespaces, 'default', (namespace) => ({
        ...namespace,
        metadata: { ...namespace.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' },
        status: { phase: 'Terminating' as const },
      })),
    (harness) =>
      harness.client.patch(configMaps, key('held'), {
        type: 'merge',
        body: { metadata: { finalizers: null } },
      }),
  ],
};

const owners: Scenario = {
  name: 'owners that go in the foreground, the background and without their dependents',
  controllers: collecting(configMaps, secrets),
  kinds: [configMaps, secrets],
  pods: false,
  async prepare(harness) {
    for (const name of ['foreground', 'background', 'orphan']) {
      const { uid } = (await make(harness, configMaps, name)).metadata;
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true };
      for (const index of [1, 2])
        await make(harness, secrets, `${name}${index}`, { ownerReferences: [owner] });
    }
  },
  steps: [
    (harness) => harness.client.delete(configMaps, key('foreground'), { propagationPolicy: 'Foreground' }),
    (harness) => harness.client.delete(configMaps, key('background')),
    (harness) => harness.client.delete(configMaps, key('orphan'), { propagationPolicy: 'Orphan' }),
  ],
};

const installed = { ...key('virt-api'), labels: { 'app.kubernetes.io/name': 'nativirt' } };

const installation: Scenario = {
  name: 'an installation',
  controllers: {
    kubevirt: (deps) =>
      createKubeVirtController(deps, { namespace: 'default', version: '1', configuration: {} }),
  },
  kinds: [kubeVirts],
  pods: false,
  prepare: () => Promise.resolve(),
  steps: [
    (harness) =>
      harness.client.create(deployments, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: installed,
        spec: { replicas: 1 },
      }),
    (harness) =>
      harness.setStatus(deployments, installed.name, {
        observedGeneration: 1,
        updatedReplicas: 1,
        readyReplicas: 1,
      }),
    (harness) => harness.setStatus(deployments, installed.name, { readyReplicas: 0 }),
  ],
};

/** With one leaf: keys take their time. */
const authority: Authority = {
  secret: certificateSecrets.authority,
  policy: defaultRotation,
  leaves: { [certificateSecrets.apiserver]: { commonName: 'apiserver', usages: ['server'] } },
};

const certificates: Scenario = {
  name: 'certificates of an installation, and their renewal',
  controllers: { certificates: (deps) => createCertificatesController(deps, 'default', [authority]) },
  kinds: [secrets, configMaps],
  pods: false,
  prepare: (harness) =>
    harness.client.create(apiServices, {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1.kubevirt.io', labels: { [injectAuthoritiesLabel]: 'true' } },
      spec: {},
    }),
  steps: [(harness) => harness.clock.advance(20 * 3_600_000)],
  check(harness) {
    const { data = {} } = harness.client.find(secrets, key(certificateSecrets.authority)) ?? {};
    const [service] = harness.client.all(apiServices);
    assert.equal(service?.spec.caBundle, data[certificateKeys.authorities]);
  },
};

const preemption: Scenario = {
  name: 'pods that make room for a more important one',
  controllers: { scheduler: createSchedulerController },
  kinds: [pods],
  pods: true,
  async prepare(harness) {
    await harness.createNode();
    await harness.client.create(priorityClasses, {
      apiVersion: 'scheduling.k8s.io/v1',
      kind: 'PriorityClass',
      metadata: { name: 'high' },
      value: 1000,
    });
  },
  steps: [
    ...(['a', 'b', 'c'] as const).map((name) => (harness: Harness) => create(harness, name, '2Gi')),
    (harness) => create(harness, 'vip', '6Gi', 'high'),
    ...patiently(5000),
  ],
};

function create(
  harness: Harness,
  name: string,
  memory: string,
  priorityClassName?: string,
): Promise<unknown> {
  return harness.client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: key(name),
    spec: {
      containers: [{ name: 'c', resources: { requests: { memory } } }],
      ...(priorityClassName === undefined ? {} : { priorityClassName }),
    },
  });
}

export const clusterScenarios: readonly Scenario[] = [ending, owners, installation, certificates, preemption];
