import assert from 'node:assert/strict';
import test from 'node:test';
import { controllerNames, createControllerManager, type ControllerManagerOptions } from './manager.js';
import { kubeVirts, leases, pods, virtualMachineInstances, virtualMachines } from './runtime/kinds.js';
import { FakeClient } from './runtime/testing/fake-client.js';
import { FakeClock, settle } from './runtime/testing/fake-clock.js';
import { SilentLogger } from './runtime/testing/silent-logger.js';
import { ControllerSelectionError, selectControllers } from './selection.js';
import { discovering } from './testing/fake-discovery.js';
import { guest } from './testing/harness.js';

test('controllers are selected as kube-controller-manager does', () => {
  const known = ['a', 'b', 'c'] as const;
  assert.deepEqual(selectControllers('*', known), ['a', 'b', 'c']);
  assert.deepEqual(selectControllers('*,-b', known), ['a', 'c']);
  assert.deepEqual(selectControllers('-b, *', known), ['a', 'c']);
  assert.deepEqual(selectControllers('c,a', known), ['a', 'c']);
  assert.deepEqual(selectControllers('', known), []);
  assert.deepEqual(selectControllers('a,-a', known), []);
  assert.throws(() => selectControllers('x', known), ControllerSelectionError);
  assert.throws(() => selectControllers('*,-x', known), /no controller x: choose from a, b, c/);
});

function options(more: Partial<ControllerManagerOptions> = {}) {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const all: ControllerManagerOptions = {
    client,
    clock,
    discovery: discovering(pods),
    logger: new SilentLogger(),
    launcher: { launcherImage: 'launcher' },
    random: () => 0,
    ...more,
  };
  return { clock, client, all };
}

test('in a cluster only the controllers of VMs run; the others are Kubernetes’ own', () => {
  const { all } = options();
  assert.deepEqual(createControllerManager(all).controllers, [
    'virtual-machine',
    'virtual-machine-instance',
    'replica-set',
    'pool',
    'node',
    'disruption-budget',
    'evacuation',
    'workload-updater',
    'topology',
  ]);
  assert.throws(
    () => createControllerManager({ ...all, controllers: 'scheduler' }),
    ControllerSelectionError,
  );
  const standalone = { volumeDirectory: '/volumes' };
  const certificates = { namespace: 'kubevirt' };
  const installation = { namespace: 'kubevirt', version: '1', configuration: {} };
  assert.deepEqual(
    createControllerManager({ ...all, standalone, certificates, installation }).controllers,
    controllerNames,
  );
  assert.ok(!createControllerManager({ ...all, standalone }).controllers.includes('certificates'));
});

test('a manager runs its controllers and ends with its signal', async () => {
  const { client, all } = options({ standalone: { volumeDirectory: '/volumes' }, controllers: '*' });
  const stop = new AbortController();
  const running = createControllerManager(all).run(stop.signal);
  await client.create(virtualMachines, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace: 'default', name: 'vm' },
    spec: { runStrategy: 'Always', template: { spec: guest() } },
  });
  await settle();
  assert.equal(client.all(pods).length, 1);
  stop.abort();
  await running;
});

test('no controllers: nothing runs', async () => {
  const { client, all } = options({ controllers: '' });
  await createControllerManager(all).run(new AbortController().signal);
  assert.deepEqual(client.writes, []);
});

test('of two managers one works; losing the lease ends it with an error', async () => {
  const { clock, client, all } = options();
  const election = (identity: string) => ({ ...all, leaderElection: { namespace: 'kubevirt', identity } });
  const stop = new AbortController();
  const first = createControllerManager(election('first')).run(stop.signal);
  await settle();
  const second = createControllerManager(election('second')).run(stop.signal);
  await settle();
  const key = { namespace: 'kubevirt', name: 'nativirt-controllers' };
  assert.equal(client.find(leases, key)?.spec?.holderIdentity, 'first');
  client.put(leases, key, (lease) => ({ ...lease, spec: { ...lease.spec, holderIdentity: 'thief' } }));
  const lost = assert.rejects(first, /another process leads/);
  await clock.advance(3000);
  await lost;
  stop.abort();
  await second;
});

test('requests are sent as fast as the KubeVirt object allows', async () => {
  const { client, clock, all } = options({ controllers: 'virtual-machine' });
  const tokenBucketRateLimiter = { qps: 1, burst: 1 };
  await client.create(kubeVirts, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { namespace: 'kubevirt', name: 'kubevirt' },
    spec: {
      configuration: { controllerConfiguration: { restClient: { rateLimiter: { tokenBucketRateLimiter } } } },
    },
  });
  const stop = new AbortController();
  const running = createControllerManager(all).run(stop.signal);
  await settle();
  client.writes.length = 0;
  for (let i = 0; i < 10; i++)
    await client.create(virtualMachines, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: { namespace: 'default', name: `vm-${i}` },
      spec: { runStrategy: 'Always', template: { spec: guest() } },
    });
  await clock.advance(3000);
  const soon = client.writes.length - 10;
  assert.ok(soon > 0 && soon <= 4, `${soon} writes`);
  await clock.advance(60_000);
  assert.ok(client.all(virtualMachineInstances).length === 10);
  stop.abort();
  await running;
});

test('the log is told what the KubeVirt object says of controllers, and when it says nothing more', async () => {
  const said: (number | undefined)[] = [];
  const { client, all } = options({ setVerbosity: (verbosity) => said.push(verbosity) });
  const stop = new AbortController();
  const running = createControllerManager(all).run(stop.signal);
  await settle();
  const { metadata } = await client.create(kubeVirts, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { namespace: 'kubevirt', name: 'kubevirt' },
    spec: {
      configuration: { developerConfiguration: { logVerbosity: { virtController: 4, virtHandler: 9 } } },
    },
  });
  await settle();
  assert.equal(said.at(-1), 4);
  client.put(kubeVirts, metadata, (current) => ({ ...current, spec: {} }));
  await settle();
  assert.equal(said.at(-1), undefined);
  stop.abort();
  await running;
});
