import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { stableMac } from '../../openapi/launcher/interfaces.js';
import { defaultMachineSettings } from '../../openapi/launcher/settings.js';
import { systemClock } from '../../controllers/runtime/clock.js';
import { findCondition } from '../../controllers/runtime/conditions.js';
import { Informers } from '../../controllers/runtime/informers.js';
import { kubeVirts, pods, virtualMachineInstances } from '../../controllers/runtime/kinds.js';
import { eventually } from '../testing/eventually.js';
import { namespace, newKubeVirt, newPod, newVmi, nodeName } from '../testing/objects.js';
import { pidFrom, tellLauncher, testNode } from '../testing/runtime.js';
import { VirtualMachineInstanceAgent } from './virtual-machine-instance-agent.js';

const key = { namespace, name: 'vm' };
const inPhase = (phase: string) => (vmi: VirtualMachineInstance | undefined) => vmi?.status?.phase === phase;

async function setUp(t: TestContext, fake: object = {}, spec: Partial<VirtualMachineInstance['spec']> = {}) {
  const node = await testNode(t);
  const { client, logger, recorder, directories } = node;
  await node.start({ fake });
  const created = await client.create(virtualMachineInstances, {
    ...newVmi('vm', spec),
    metadata: { namespace, name: 'vm', finalizers: ['kubevirt.io/foregroundDeleteVirtualMachine'] },
  });
  const pod = await client.create(pods, newPod(created));
  const { uid } = pod.metadata;
  await eventually(client, pods, pod.metadata, (found) => found?.status?.phase === 'Running');
  const start = () => {
    const informers = new Informers({ client, logger });
    const agent = new VirtualMachineInstanceAgent({
      client,
      clock: systemClock,
      logger,
      recorder,
      nodeName,
      directories,
      informer: informers.get(virtualMachineInstances, { fieldSelector: `status.nodeName=${nodeName}` }),
      kubeVirtInformer: informers.get(kubeVirts),
      prepare: () => Promise.resolve({}),
      node: { launcherVersion: 'v0.1.0', runtimeUser: 107 },
    });
    const controller = new AbortController();
    const running = Promise.all([informers.run(controller.signal), agent.run(controller.signal)]);
    const stop = async (): Promise<void> => {
      controller.abort();
      await running;
    };
    t.after(stop);
    return { agent, stop };
  };
  /** What the VMI controller does when the pod runs. */
  const schedule = () =>
    client.put(virtualMachineInstances, key, (vmi) => ({
      ...vmi,
      status: {
        ...vmi.status,
        phase: 'Scheduled',
        nodeName,
        activePods: { [uid]: nodeName },
        virtualMachineRevisionName: 'revision',
        phaseTransitionTimestamps: [{ phase: 'Scheduled', phaseTransitionTimestamp: '2026-01-01T00:00:00Z' }],
      },
    }));
  const writes = () => client.writes.filter(({ resource }) => resource === 'virtualmachineinstances').length;
  const until = (accept: (vmi: VirtualMachineInstance | undefined) => boolean) =>
    eventually(client, virtualMachineInstances, key, accept);
  return { ...node, start, schedule, writes, until, pod, directory: directories.of(uid) };
}

test('Scheduled becomes Running in one write that says everything', async (t) => {
  const { start, schedule, until, writes, recorder } = await setUp(
    t,
    {},
    {
      domain: {
        devices: {
          disks: [
            { name: 'root', disk: { bus: 'virtio' } },
            { name: 'seed', cdrom: { bus: 'sata' } },
          ],
        },
      },
      volumes: [
        { name: 'root', persistentVolumeClaim: { claimName: 'c' } },
        { name: 'seed', cloudInitNoCloud: { userData: 'x' } },
      ],
    },
  );
  start();
  const before = writes();
  schedule();
  const vmi = await until(inPhase('Running'));
  assert.equal(writes() - before, 1);
  const { status = {} } = vmi ?? {};
  assert.deepEqual(
    status.phaseTransitionTimestamps?.map(({ phase }) => phase),
    ['Scheduled', 'Running'],
  );
  const conditions = Object.fromEntries((status.conditions ?? []).map(({ type, status }) => [type, status]));
  assert.deepEqual(conditions, {
    Ready: 'True',
    LiveMigratable: 'False',
    StorageLiveMigratable: 'False',
    DataVolumesReady: 'True',
  });
  assert.equal(status.machine?.type, 'pc-q35-7.2');
  assert.equal(status.virtualMachineRevisionName, 'revision');
  assert.equal(status.launcherContainerImageVersion, 'v0.1.0');
  assert.equal(status.runtimeUser, 107);
  assert.deepEqual(
    status.volumeStatus?.map(({ name, target }) => [name, target]),
    [
      ['root', 'vda'],
      ['seed', 'sda'],
    ],
  );
  assert.deepEqual(status.interfaces, [
    {
      name: 'default',
      linkState: 'up',
      infoSource: 'domain',
      queueCount: 1,
      mac: stableMac(vmi?.metadata.uid ?? '', 'default'),
    },
  ]);
  assert.deepEqual(recorder.reasons(), ['Started']);
});

test('a machine starts with what is configured when it does', async (t) => {
  const { start, schedule, until, client, directory } = await setUp(t);
  await client.create(kubeVirts, newKubeVirt({ memBalloonStatsPeriod: 3 }));
  start();
  schedule();
  await until(inPhase('Running'));
  assert.deepEqual(JSON.parse(await readFile(join(directory.path, 'settings.json'), 'utf8')), {
    ...defaultMachineSettings,
    balloonStatsPeriod: 3,
  });
});

test('what the guest agent tells, pause and resume', async (t) => {
  const { start, schedule, until, directory, recorder } = await setUp(t);
  start();
  schedule();
  await until(inPhase('Running'));
  await tellLauncher(directory, {
    guestAgentConnected: true,
    guest: {
      os: { id: 'debian', name: 'Debian GNU/Linux', 'pretty-name': 'Debian 12', 'version-id': '12' },
      interfaces: [
        { name: 'lo', addresses: ['127.0.0.1'] },
        { name: 'eth0', mac: '52:54:00:12:34:56', addresses: ['fe80::1/64', 'fec0::5/64', '10.0.2.15/24'] },
      ],
    },
  });
  const told = await until(
    (vmi) => findCondition(vmi?.status?.conditions, 'AgentConnected')?.status === 'True',
  );
  assert.deepEqual(told?.status?.interfaces, [
    {
      name: 'default',
      linkState: 'up',
      infoSource: 'domain, guest-agent',
      queueCount: 1,
      interfaceName: 'eth0',
      mac: '52:54:00:12:34:56',
      ipAddress: '10.0.2.15',
      ipAddresses: ['10.0.2.15', 'fec0::5', 'fe80::1'],
    },
  ]);
  assert.equal(told.status.guestOSInfo?.prettyName, 'Debian 12');
  await tellLauncher(directory, { state: 'Paused', reason: 'PausedByUser', message: 'paused by the user' });
  await until((vmi) => findCondition(vmi?.status?.conditions, 'Paused')?.status === 'True');
  await tellLauncher(directory, { state: 'Running', reason: 'Started', message: '' });
  const resumed = await until((vmi) => findCondition(vmi?.status?.conditions, 'Paused') === undefined);
  assert.equal(findCondition(resumed?.status?.conditions, 'AgentConnected')?.status, 'True');
  assert.deepEqual(recorder.reasons().slice(-2), ['Paused', 'Resumed']);
});

test('emulation without KVM is said once, as condition and event', async (t) => {
  const { start, schedule, until, recorder } = await setUp(t, { accelerator: 'tcg' });
  const { stop } = start();
  schedule();
  const vmi = await until(inPhase('Running'));
  assert.equal(findCondition(vmi?.status?.conditions, 'SoftwareEmulation')?.status, 'True');
  await stop();
  const { agent } = start();
  while (agent.size === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(recorder.reasons().filter((reason) => reason === 'SoftwareEmulation').length, 1);
});

test('the guest powers off: Succeeded; a launcher that fails to start it: Failed with its reason', async (t) => {
  const good = await setUp(t);
  good.start();
  good.schedule();
  await good.until(inPhase('Running'));
  await tellLauncher(good.directory, {
    state: 'Shutoff',
    reason: 'GuestShutdown',
    message: 'the guest powered off',
  });
  const off = await good.until(inPhase('Succeeded'));
  assert.equal(findCondition(off?.status?.conditions, 'Ready')?.reason, 'GuestNotRunning');
  assert.equal(
    good.recorder.events.find(({ reason }) => reason === 'Stopped')?.message,
    'the guest powered off',
  );

  const failStart = { reason: 'QEMUMissing', message: 'install the package qemu-system-x86' };
  const bad = await setUp(t, { failStart });
  bad.start();
  bad.schedule();
  const failed = await bad.until(inPhase('Failed'));
  assert.equal(failed?.status?.reason, 'QEMUMissing');
  const synchronized = findCondition(failed.status.conditions, 'Synchronized');
  assert.equal(synchronized?.message, failStart.message);
  assert.ok(bad.recorder.events.some(({ type, reason }) => type === 'Warning' && reason === 'QEMUMissing'));
});

test('SIGKILL of the launcher: Failed', async (t) => {
  const { start, schedule, until, directory } = await setUp(t);
  const { agent } = start();
  schedule();
  await until(inPhase('Running'));
  process.kill(await pidFrom(directory, 'launcher.json'), 'SIGKILL');
  const vmi = await until(inPhase('Failed'));
  assert.equal(vmi?.status?.reason, 'LauncherDied');
  while (agent.size > 0) await new Promise((resolve) => setImmediate(resolve));
});

test('deletion is graceful, and a shorter grace period later still counts', async (t) => {
  const polite = await setUp(t);
  polite.start();
  polite.schedule();
  await polite.until(inPhase('Running'));
  await polite.client.delete(virtualMachineInstances, key);
  await polite.until(inPhase('Succeeded'));
  assert.ok(polite.recorder.reasons().includes('ShuttingDown'));

  const stubborn = await setUp(t, { ignoreShutdown: true });
  stubborn.start();
  stubborn.schedule();
  await stubborn.until(inPhase('Running'));
  await stubborn.client.delete(virtualMachineInstances, key);
  stubborn.client.put(virtualMachineInstances, key, (vmi) => ({
    ...vmi,
    spec: { ...vmi.spec, terminationGracePeriodSeconds: 0 },
  }));
  const killed = await stubborn.until(inPhase('Failed'));
  assert.equal(killed?.status?.reason, 'Killed');
});

test('a VMI that is deleted before its guest started ends at once', async (t) => {
  const { start, schedule, until, client, recorder } = await setUp(t);
  schedule();
  await client.delete(virtualMachineInstances, key);
  start();
  await until(inPhase('Succeeded'));
  assert.equal(recorder.reasons().includes('Started'), false);
});

test('a restarted agent goes on where it was, at any point', async (t) => {
  const { start, schedule, until, directory, writes } = await setUp(t);
  schedule();
  const first = start();
  await until(inPhase('Running'));
  await first.stop();
  const before = writes();
  const second = start();
  while (second.agent.size === 0) await new Promise((resolve) => setImmediate(resolve));
  await second.stop();
  assert.equal(writes(), before);
  await tellLauncher(directory, { state: 'Failed', reason: 'QEMUCrashed', message: 'QEMU died' });
  start();
  const vmi = await until(inPhase('Failed'));
  assert.equal(vmi?.status?.reason, 'QEMUCrashed');
});

test('a status that somebody else changed meanwhile is not overwritten', async (t) => {
  const { start, schedule, until, client } = await setUp(t);
  let once = true;
  client.beforeWrite = ({ resource }) => {
    if (resource !== 'virtualmachineinstances' || !once) return;
    once = false;
    client.put(virtualMachineInstances, key, (vmi) => ({
      ...vmi,
      status: { ...vmi.status, evacuationNodeName: 'elsewhere' },
    }));
  };
  start();
  schedule();
  const vmi = await until(inPhase('Running'));
  assert.equal(vmi?.status?.evacuationNodeName, 'elsewhere');
});
