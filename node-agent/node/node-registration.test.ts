import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Node } from '../../openapi/generated/types/core_v1.js';
import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import { nodeAgentAddressAnnotation } from '../../openapi/node-agent.js';
import { findCondition } from '../../controllers/runtime/conditions.js';
import { SharedInformer } from '../../controllers/runtime/informer.js';
import { kubeVirts, leases, nodes } from '../../controllers/runtime/kinds.js';
import { FakeClient } from '../../controllers/runtime/testing/fake-client.js';
import { FakeClock } from '../../controllers/runtime/testing/fake-clock.js';
import { SilentLogger } from '../../controllers/runtime/testing/silent-logger.js';
import { eventually } from '../testing/eventually.js';
import { newKubeVirt } from '../testing/objects.js';
import { usableCpuModels } from './cpu-models.js';
import { readHostFacts, type HostFacts } from './host-facts.js';
import { keepLease, nodeLeaseNamespace } from './node-lease.js';
import { isShuttingDown, nodeLabels } from './node-object.js';
import { NodeRegistration } from './node-registration.js';

const facts: HostFacts = {
  architecture: 'amd64',
  cpus: 2,
  memory: 4 * 1024 ** 3,
  disk: { size: 100 * 1024 ** 3, available: 50 * 1024 ** 3 },
  hugepages: { 'hugepages-2Mi': '0' },
  cpuVendor: 'GenuineIntel',
  cpuFlags: new Set(['ssse3', 'sse4_1', 'cx16', 'sse4_2', 'popcnt']),
  kvm: true,
  machineId: 'machine',
  bootId: 'boot',
  kernel: '6.1.0',
  osImage: 'Debian GNU/Linux 12 (bookworm)',
};

const isReady = (node: Node | undefined): boolean =>
  findCondition(node?.status?.conditions, 'Ready')?.status === 'True';

function setUp(t: TestContext, { registerNode = true } = {}) {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const logger = new SilentLogger();
  const host = { facts };
  const informer = new SharedInformer({ client, kind: nodes, logger, clock });
  const kubeVirtInformer = new SharedInformer({ client, kind: kubeVirts, logger, clock });
  const registration = new NodeRegistration({
    client,
    clock,
    logger,
    identity: { name: 'node-1', address: '192.0.2.1', streamAddress: '192.0.2.1:4000', version: '0.1.0' },
    informer,
    kubeVirtInformer,
    registerNode,
    readFacts: () => Promise.resolve(host.facts),
  });
  const controller = new AbortController();
  const alive = setInterval(() => undefined, 60_000);
  const run = () =>
    Promise.all([informer, kubeVirtInformer, registration].map((each) => each.run(controller.signal)));
  const running = { promise: Promise.resolve<unknown>(undefined) };
  const stop = async (): Promise<void> => {
    clearInterval(alive);
    controller.abort();
    await running.promise;
  };
  t.after(stop);
  const start = (): void => {
    running.promise = run();
  };
  return { clock, client, host, start, stop };
}

const key = { name: 'node-1' };

test('registers the node with what the machine has', async (t) => {
  const { client, start, stop } = setUp(t);
  start();
  const node = await eventually(client, nodes, key, isReady);
  assert.ok(node);
  const { labels = {}, annotations = {} } = node.metadata;
  assert.equal(labels['kubernetes.io/hostname'], 'node-1');
  assert.equal(labels['kubernetes.io/arch'], 'amd64');
  assert.equal(labels['kubevirt.io/schedulable'], 'true');
  assert.equal(labels['cpu-model.node.kubevirt.io/Nehalem'], 'true');
  assert.equal(labels['cpu-model.node.kubevirt.io/Westmere'], undefined);
  assert.equal(annotations[nodeAgentAddressAnnotation], '192.0.2.1:4000');
  assert.match(annotations['kubevirt.io/heartbeat'] ?? '', /^\d{4}-/);
  assert.equal(node.status?.capacity?.['cpu'], '2');
  assert.equal(node.status.allocatable?.['memory'], '4194304Ki');
  assert.equal(node.status.capacity['devices.kubevirt.io/kvm'], '1k');
  assert.equal(node.status.nodeInfo?.operatingSystem, 'linux');
  await stop();
  assert.equal(client.find(nodes, key)?.metadata.labels?.['kubevirt.io/schedulable'], 'false');
});

test('its heart beats once a minute, and it writes no more than that', async (t) => {
  const { client, clock, start } = setUp(t);
  start();
  const first = await eventually(client, nodes, key, isReady);
  const before = client.writes.length;
  const beat = (node: Node | undefined): string =>
    node?.metadata.annotations?.['kubevirt.io/heartbeat'] ?? '';
  await clock.advance(30_000);
  assert.equal(client.writes.length, before);
  await clock.advance(30_000);
  await eventually(client, nodes, key, (node) => beat(node) !== beat(first));
  assert.equal(client.writes.length, before + 1);
});

test('takes back what a controller said while it was silent, and what was changed by hand', async (t) => {
  const { client, start } = setUp(t);
  start();
  await eventually(client, nodes, key, isReady);
  client.put(nodes, key, (node) => ({
    ...node,
    status: {
      ...node.status,
      conditions: [
        { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' },
        { type: 'NetworkUnavailable', status: 'False' },
      ],
    },
  }));
  const back = await eventually(client, nodes, key, isReady);
  assert.equal(findCondition(back?.status?.conditions, 'NetworkUnavailable')?.status, 'False');
  client.put(nodes, key, (node) => ({
    ...node,
    metadata: { ...node.metadata, labels: {}, annotations: {} },
  }));
  await eventually(
    client,
    nodes,
    key,
    (node) =>
      node?.metadata.labels?.['kubevirt.io/schedulable'] === 'true' &&
      node.metadata.annotations?.[nodeAgentAddressAnnotation] !== undefined,
  );
  client.remove(nodes, key);
  await eventually(client, nodes, key, isReady);
});

test('beside a kubelet it only labels the node', async (t) => {
  const { client, start } = setUp(t, { registerNode: false });
  await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } });
  start();
  const node = await eventually(
    client,
    nodes,
    key,
    (found) => found?.metadata.labels?.['kubevirt.io/schedulable'] === 'true',
  );
  assert.equal(node?.status?.capacity, undefined);
  assert.equal(node?.metadata.labels?.['kubernetes.io/hostname'], undefined);
});

test('a full disk shows as DiskPressure', async (t) => {
  const { client, host, start } = setUp(t);
  host.facts = { ...facts, disk: { size: 100, available: 1 } };
  start();
  const node = await eventually(client, nodes, key, isReady);
  assert.equal(findCondition(node?.status?.conditions, 'DiskPressure')?.status, 'True');
});

test('the lease is renewed every ten seconds, and made anew when it is gone', async (t) => {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const controller = new AbortController();
  const alive = setInterval(() => undefined, 60_000);
  t.after(() => {
    clearInterval(alive);
  });
  const options = { client, clock, logger: new SilentLogger(), nodeName: 'node-1' };
  const running = keepLease(options, controller.signal);
  const lease = { namespace: nodeLeaseNamespace, name: 'node-1' };
  const first = await eventually(client, leases, lease, (found) => found !== undefined);
  await clock.advance(10_000);
  const renewed = await eventually(
    client,
    leases,
    lease,
    (found) => found?.spec?.renewTime !== first?.spec?.renewTime,
  );
  assert.equal(renewed?.spec?.leaseDurationSeconds, 40);
  client.remove(leases, lease);
  await clock.advance(10_000);
  await eventually(client, leases, lease, (found) => found !== undefined);
  controller.abort();
  await running;
});

test('this machine has facts', async () => {
  const found = await readHostFacts('/');
  assert.ok(found.cpus >= 1);
  assert.ok(found.memory > 0);
  assert.ok(found.disk.size >= found.disk.available);
  assert.ok(found.bootId.length > 0);
});

const flags = (...names: string[]): Set<string> => new Set(names);

test('CPU models go by their features, in order, and those beside the line after what they need more', () => {
  const nehalem = ['ssse3', 'sse4_1', 'cx16', 'sse4_2', 'popcnt'];
  assert.deepEqual(usableCpuModels('GenuineIntel', flags('ssse3', 'sse4_1', 'cx16', 'aes', 'pclmulqdq')), [
    'Conroe',
    'Penryn',
  ]);
  assert.deepEqual(usableCpuModels('GenuineIntel', flags(...nehalem, 'ibrs')), [
    'Nehalem-IBRS',
    'Conroe',
    'Penryn',
    'Nehalem',
  ]);
  assert.deepEqual(usableCpuModels('AuthenticAMD', flags('cx16', 'popcnt', 'sse4a')), [
    'Opteron_G2',
    'Opteron_G3',
  ]);
  assert.deepEqual(usableCpuModels(undefined, flags('ssse3')), []);
});

const labelsOf = (given: HostFacts, configuration: KubeVirtConfiguration = {}) =>
  nodeLabels({ facts: given, configuration });

test('labels tell what a guest’s processor can be: the machine’s under KVM, what QEMU emulates without it', () => {
  const real = labelsOf({ ...facts, cpuFlags: flags('sse4_1', 'ibrs', 'constant_tsc', 'nonstop_tsc') });
  for (const name of ['sse4.1', 'spec-ctrl', 'invtsc'])
    assert.equal(real[`cpu-feature.node.kubevirt.io/${name}`], 'true', name);
  assert.equal(real['cpu-vendor.node.kubevirt.io/Intel'], 'true');
  const timed = labelsOf({ ...facts, tsc: { frequency: 2_000_000_000, scalable: true } });
  assert.equal(timed['cpu-timer.node.kubevirt.io/tsc-frequency'], '2000000000');
  assert.equal(timed['cpu-timer.node.kubevirt.io/tsc-scalable'], 'true');
  const emulated = labelsOf({ ...facts, kvm: false, cpuFlags: flags('avx512f') });
  assert.equal(emulated['cpu-feature.node.kubevirt.io/avx512f'], undefined);
  assert.equal(emulated['cpu-feature.node.kubevirt.io/avx2'], 'true');
  for (const model of ['Westmere', 'Opteron_G3'])
    assert.equal(emulated[`cpu-model.node.kubevirt.io/${model}`], 'true', model);
  assert.equal(emulated['cpu-model.node.kubevirt.io/Icelake-Server'], undefined);
});

test('obsolete models are no labels: KubeVirt’s, or instead those that are configured', () => {
  const models = (obsoleteCPUModels?: Record<string, boolean>): string[] =>
    Object.keys(labelsOf(facts, obsoleteCPUModels && { obsoleteCPUModels })).flatMap((name) => {
      const [prefix, model = ''] = name.split('/');
      return prefix === 'cpu-model.node.kubevirt.io' ? [model] : [];
    });
  assert.deepEqual(models(), ['Penryn', 'Nehalem']);
  assert.deepEqual(models({ Penryn: true, Nehalem: false }), ['Conroe', 'Nehalem']);
  const oldHost = labelsOf({ ...facts, cpuFlags: flags('ssse3') });
  assert.equal(oldHost['cpu-model.node.kubevirt.io/Conroe'], undefined);
  assert.equal(oldHost['node-labeller.kubevirt.io/obsolete-host-model'], undefined);
  const obsoleteHost = labelsOf(facts, { obsoleteCPUModels: { Nehalem: true } });
  assert.equal(obsoleteHost['host-model-cpu.node.kubevirt.io/Nehalem'], 'true');
  assert.equal(obsoleteHost['node-labeller.kubevirt.io/obsolete-host-model'], 'true');
});

test('what the KubeVirt object says of nodes counts from the start, and when it changes', async (t) => {
  const { client, start } = setUp(t);
  const label = (model: string) => `cpu-model.node.kubevirt.io/${model}`;
  const { metadata } = await client.create(
    kubeVirts,
    newKubeVirt({ obsoleteCPUModels: { Nehalem: true }, virtualMachineInstancesPerNode: 110 }),
  );
  start();
  const first = await eventually(client, nodes, key, isReady);
  assert.equal(first?.metadata.labels?.[label('Nehalem')], undefined);
  assert.equal(first?.metadata.labels?.[label('Conroe')], 'true');
  assert.equal(first.status?.allocatable?.['devices.kubevirt.io/kvm'], '110');
  client.put(kubeVirts, metadata, (kubeVirt) => ({ ...kubeVirt, spec: {} }));
  const changed = await eventually(
    client,
    nodes,
    key,
    (node) => node?.status?.allocatable?.['devices.kubevirt.io/kvm'] === '1k',
  );
  const { labels = {} } = changed?.metadata ?? {};
  assert.equal(labels[label('Nehalem')], 'true');
  assert.equal(labels[label('Conroe')], undefined);
  assert.equal(labels['node-labeller.kubevirt.io/obsolete-host-model'], undefined);
});

test('a label that no longer holds is taken away', async (t) => {
  const { client, start } = setUp(t);
  start();
  await eventually(client, nodes, key, isReady);
  const old = 'cpu-feature.node.kubevirt.io/avx512f';
  const mine = 'cpu-feature.example.org/mine';
  client.put(nodes, key, (node) => ({
    ...node,
    metadata: { ...node.metadata, labels: { ...node.metadata.labels, [old]: 'true', [mine]: 'true' } },
  }));
  const node = await eventually(client, nodes, key, (each) => each?.metadata.labels?.[old] === undefined);
  assert.equal(node?.metadata.labels?.[mine], 'true');
});

test('a kubelet’s word that its machine shuts down counts as well as our own', () => {
  const said = (status: string, message: string): Node =>
    ({ status: { conditions: [{ type: 'Ready', status, reason: 'KubeletNotReady', message }] } }) as Node;
  assert.equal(isShuttingDown(said('False', 'node is shutting down')), true);
  assert.equal(isShuttingDown(said('False', '[container runtime is down, node is shutting down]')), true);
  assert.equal(isShuttingDown(said('False', 'container runtime is down')), false);
  assert.equal(isShuttingDown(said('True', 'kubelet is posting ready status')), false);
  assert.equal(isShuttingDown(undefined), false);
});
