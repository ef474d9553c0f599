import assert from 'node:assert/strict';
import test from 'node:test';
import { kubeVirts, nodes, pods, virtualMachineInstances } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { Harness, guest } from '../testing/harness.js';
import { createVirtualMachineInstanceController } from '../virtual-machine-instance/virtual-machine-instance-controller.js';
import { createTopologyController } from './topology-controller.js';

const key = { namespace: 'default', name: 'vm' };

async function createNode(
  harness: Harness,
  name: string,
  frequency: number,
  scalable: boolean,
): Promise<void> {
  await harness.createNode(name, {
    metadata: {
      name,
      uid: '',
      resourceVersion: '',
      creationTimestamp: '',
      labels: {
        'kubevirt.io/schedulable': 'true',
        'cpu-timer.node.kubevirt.io/tsc-frequency': String(frequency),
        'cpu-timer.node.kubevirt.io/tsc-scalable': String(scalable),
      },
    },
  });
}

const frequencies = (harness: Harness, name: string): string[] =>
  Object.keys(harness.client.find(nodes, { name })?.metadata.labels ?? {})
    .filter((label) => label.startsWith('scheduling.'))
    .map((label) => label.replace('scheduling.node.kubevirt.io/tsc-frequency-', ''))
    .sort();

async function createVmi(harness: Harness, features: { name: string }[]): Promise<void> {
  await harness.client.create(virtualMachineInstances, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: key,
    spec: { ...guest(), domain: { devices: {}, cpu: { features } } },
  });
  await settle();
}

test('nodes say which frequencies guests can have there; a guest that counts on one gets the lowest', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  await createNode(harness, 'slow', 2_000_000_000, false);
  await createNode(harness, 'fast', 3_000_000_000, true);
  await createNode(harness, 'rigid', 2_500_000_000, false);
  await createNode(harness, 'close', 2_000_100_000, false);
  await harness.createNode('unknown');
  await harness.start(createTopologyController, (deps) =>
    createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' }),
  );
  assert.deepEqual(frequencies(harness, 'slow'), ['2000000000']);
  assert.deepEqual(frequencies(harness, 'fast'), ['2000000000', '3000000000']);
  assert.deepEqual(frequencies(harness, 'rigid'), ['2500000000']);
  assert.deepEqual(frequencies(harness, 'close'), ['2000000000', '2000100000']);
  assert.deepEqual(frequencies(harness, 'unknown'), []);

  await createVmi(harness, [{ name: 'invtsc' }]);
  assert.deepEqual(harness.vmi()?.status?.topologyHints, { tscFrequency: 2_000_000_000 });
  const selector = harness.client.all(pods)[0]?.spec?.nodeSelector ?? {};
  assert.equal(selector['scheduling.node.kubevirt.io/tsc-frequency-2000000000'], 'true');

  harness.client.remove(nodes, { name: 'slow' });
  await settle();
  assert.deepEqual(frequencies(harness, 'fast'), ['2000000000', '2000100000', '3000000000'], 'it is in use');
  harness.client.remove(virtualMachineInstances, key);
  await settle();
  assert.deepEqual(frequencies(harness, 'fast'), ['2000100000', '3000000000']);
  const writes = harness.client.writes.length;
  await harness.clock.advance(600_000);
  assert.equal(harness.client.writes.length, writes);
});

test('other guests get no hint, nor does one where no node knows its frequency', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.createNode('unknown');
  await harness.start(createTopologyController, (deps) =>
    createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' }),
  );
  await createVmi(harness, [{ name: 'invtsc' }]);
  assert.equal(harness.vmi()?.status?.topologyHints, undefined);
  assert.equal(harness.client.all(pods).length, 1);
});

async function configure(harness: Harness, minimumClusterTSCFrequency: number): Promise<void> {
  const spec = { configuration: { developerConfiguration: { minimumClusterTSCFrequency } } };
  await harness.client.create(kubeVirts, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { namespace: 'nativirt', name: 'kubevirt' },
    spec,
  });
  await settle();
}

test('a configured frequency is what guests get, instead of the lowest of the nodes', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  await createNode(harness, 'slow', 2_000_000_000, true);
  await createNode(harness, 'fast', 3_000_000_000, true);
  await createNode(harness, 'rigid', 2_800_000_000, false);
  await harness.start(createTopologyController, (deps) =>
    createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' }),
  );
  assert.deepEqual(frequencies(harness, 'fast'), ['2000000000', '3000000000']);
  await configure(harness, 2_500_000_000);
  assert.deepEqual(frequencies(harness, 'slow'), ['2000000000']);
  assert.deepEqual(frequencies(harness, 'fast'), ['2500000000', '3000000000']);
  assert.deepEqual(frequencies(harness, 'rigid'), ['2800000000']);
  await createVmi(harness, [{ name: 'invtsc' }]);
  assert.deepEqual(harness.vmi()?.status?.topologyHints, { tscFrequency: 2_500_000_000 });
  const selector = harness.launcher()?.spec?.nodeSelector ?? {};
  assert.equal(selector['scheduling.node.kubevirt.io/tsc-frequency-2500000000'], 'true');
});

test('a frequency that is none is as if it were not configured', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  await createNode(harness, 'slow', 2_000_000_000, true);
  await configure(harness, 0);
  await harness.start(createTopologyController, (deps) =>
    createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' }),
  );
  await createVmi(harness, [{ name: 'invtsc' }]);
  assert.deepEqual(harness.vmi()?.status?.topologyHints, { tscFrequency: 2_000_000_000 });
});
