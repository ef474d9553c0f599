import assert from 'node:assert/strict';
import { access, mkdir, readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { systemClock } from '../../controllers/runtime/clock.js';
import {
  configMaps,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  secrets,
  virtualMachineInstances,
} from '../../controllers/runtime/kinds.js';
import { LauncherClient } from '../launcher-client.js';
import { diskImage, makeImage, writeLayout } from '../images/testing/images.js';
import { readProcess } from '../processes.js';
import { eventually } from '../testing/eventually.js';
import { namespace, newPod, newVmi, nodeName } from '../testing/objects.js';
import { pidFrom, tellLauncher, testNode, type Agent, type TestNode } from '../testing/runtime.js';

const phase = (wanted: string) => (pod: Pod | undefined) => pod?.status?.phase === wanted;
const gone = (pod: Pod | undefined): boolean => pod === undefined;

async function create(
  { client }: TestNode,
  spec: Parameters<typeof newPod>[1] = {},
  vmiSpec: Partial<VirtualMachineInstance['spec']> = {},
): Promise<{ pod: Pod; vmi: VirtualMachineInstance; key: { namespace: string; name: string } }> {
  const vmi = await client.create(virtualMachineInstances, newVmi('vm', vmiSpec));
  const pod = await client.create(pods, newPod(vmi, spec));
  return { pod, vmi, key: { namespace, name: pod.metadata.name } };
}

async function boot({ directories }: TestNode, pod: Pod, vmi: VirtualMachineInstance): Promise<void> {
  const launcher = await LauncherClient.connect(directories.of(pod.metadata.uid).controlSocket, {
    clock: systemClock,
  });
  await launcher.call('start', { vmi });
  launcher.close();
}

/** The runtime looks after no pod any more. */
async function idle({ runtime }: Agent): Promise<void> {
  while (runtime.size > 0) await new Promise((resolve) => setImmediate(resolve));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

test('a launcher pod becomes a process and a Running pod with one write of its status', async (t) => {
  const node = await testNode(t);
  const { pod, vmi, key } = await create(node);
  await node.start();
  const running = await eventually(node.client, pods, key, phase('Running'));
  assert.equal(running?.status?.podIP, '192.0.2.1');
  assert.equal(running.status.containerStatuses?.[0]?.ready, true);
  assert.ok(running.status.startTime);
  const ready = running.status.conditions?.find(({ type }) => type === 'Ready');
  assert.equal(ready?.status, 'True');
  assert.equal(node.client.writes.filter(({ subresource }) => subresource === 'status').length, 1);
  const directory = node.directories.of(pod.metadata.uid);
  const text = await readFile(join(directory.path, 'arguments.json'), 'utf8');
  assert.deepEqual(JSON.parse(text), [
    ...['--pod-dir', directory.path, '--namespace', namespace],
    ...['--name', 'vm', '--uid', vmi.metadata.uid],
  ]);
  const launcher = await readProcess(await pidFrom(directory, 'launcher.json'));
  assert.equal(launcher?.session, launcher?.pid);
});

test('volumes: secret, config map, downward API, emptyDir, hostPath and claim', async (t) => {
  const node = await testNode(t);
  const { client } = node;
  const meta = (name: string) => ({ apiVersion: 'v1', metadata: { namespace, name } });
  const data = { userdata: Buffer.from('#cloud-config').toString('base64'), other: '' };
  await client.create(secrets, { ...meta('s'), kind: 'Secret', data });
  await client.create(configMaps, { ...meta('c'), kind: 'ConfigMap', data: { 'a.txt': 'ä' } });
  const claim = await client.create(persistentVolumeClaims, {
    ...meta('claim'),
    kind: 'PersistentVolumeClaim',
    spec: { volumeName: 'pv' },
  });
  const store = join(node.directory, 'pv');
  await mkdir(store);
  await client.create(persistentVolumes, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'pv' },
    spec: { hostPath: { path: store } },
  });
  const { pod, key } = await create(node, {
    volumes: [
      {
        name: 'secret',
        secret: { secretName: 's', items: [{ key: 'userdata', path: 'dir/user', mode: 0o400 }] },
      },
      { name: 'config', configMap: { name: 'c' } },
      { name: 'optional', secret: { secretName: 'none', optional: true } },
      {
        name: 'down',
        downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] },
      },
      { name: 'empty', emptyDir: {} },
      { name: 'host', hostPath: { path: node.directory } },
      { name: 'data', persistentVolumeClaim: { claimName: 'claim' } },
    ],
  });
  await node.start();
  const waiting = await eventually(client, pods, key, (pod) => pod?.status?.phase === 'Pending');
  assert.match(
    waiting?.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '',
    /"claim" is not bound/,
  );
  client.put(persistentVolumeClaims, { namespace, name: 'claim' }, () => ({
    ...claim,
    status: { phase: 'Bound' as const },
  }));
  await eventually(client, pods, key, phase('Running'));
  const volume = (path: string): string => node.directories.of(pod.metadata.uid).volume(path);
  assert.equal(await readFile(volume('secret/dir/user'), 'utf8'), '#cloud-config');
  assert.equal((await stat(volume('secret/dir/user'))).mode & 0o777, 0o400);
  assert.equal(await readFile(volume('config/a.txt'), 'utf8'), 'ä');
  assert.deepEqual(
    (await readdir(volume('optional'))).filter((name) => !name.startsWith('..')),
    [],
  );
  assert.match(await readFile(volume('down/labels'), 'utf8'), /kubevirt.io="virt-launcher"/);
  assert.deepEqual(await readdir(volume('empty')), []);
  assert.equal(await readlink(volume('host')), node.directory);
  assert.equal(await readlink(volume('data')), store);
});

test('a missing secret is said and waited for; deletion ends the waiting', async (t) => {
  const node = await testNode(t);
  const { pod, key } = await create(node, { volumes: [{ name: 'v', secret: { secretName: 'later' } }] });
  await node.start();
  const waiting = await eventually(node.client, pods, key, (pod) => pod?.status?.phase === 'Pending');
  const { waiting: state } = waiting?.status?.containerStatuses?.[0]?.state ?? {};
  assert.equal(state?.reason, 'ContainerCreating');
  assert.match(state.message ?? '', /secret "later" does not exist in namespace "default"/);
  assert.ok(node.recorder.reasons().includes('FailedMount'));
  await node.client.delete(pods, key);
  await eventually(node.client, pods, key, gone);
  assert.equal(await exists(node.directories.of(pod.metadata.uid).path), false);
});

test('container disks and kernel boot files appear read only', async (t) => {
  const node = await testNode(t);
  const kernel = [
    { name: 'boot/vmlinuz', content: 'kernel' },
    { name: 'boot/initrd', content: 'initrd' },
  ];
  await writeLayout(join(node.directory, 'images-layout'), {
    disk: await diskImage('disk'),
    kernel: await makeImage([kernel]),
  });
  const image = `oci:${node.directory}/images-layout`;
  const { pod, key } = await create(
    node,
    {
      containers: [
        { name: 'compute', image: 'launcher' },
        { name: 'volumeroot', image: `${image}:disk` },
        { name: 'kernel-boot', image: `${image}:kernel` },
      ],
    },
    {
      volumes: [{ name: 'root', containerDisk: { image: `${image}:disk`, path: '/disk/disk.img' } }],
      domain: {
        devices: {},
        firmware: {
          kernelBoot: {
            container: { image: `${image}:kernel`, kernelPath: '/boot/vmlinuz', initrdPath: '/boot/initrd' },
          },
        },
      },
    },
  );
  await node.start();
  const running = await eventually(node.client, pods, key, phase('Running'));
  assert.match(running?.status?.containerStatuses?.[1]?.imageID ?? '', /^sha256:/);
  const directory = node.directories.of(pod.metadata.uid);
  assert.equal(await readFile(join(directory.path, 'volumes/root/disk.img'), 'utf8'), 'disk');
  assert.equal((await stat(join(directory.path, 'volumes/root/disk.img'))).mode & 0o222, 0);
  assert.equal(await readFile(join(directory.path, 'volumes/kernel-boot/kernel'), 'utf8'), 'kernel');
  assert.equal(await readFile(join(directory.path, 'volumes/kernel-boot/initrd'), 'utf8'), 'initrd');
});

test('an image that cannot be pulled: ErrImagePull with the cause, on the container and as an event', async (t) => {
  const node = await testNode(t);
  const image = 'oci:no/such/layout';
  const { key } = await create(
    node,
    { containers: [{ name: 'compute' }, { name: 'volumeroot', image }] },
    { volumes: [{ name: 'root', containerDisk: { image } }] },
  );
  await node.start();
  const pending = await eventually(node.client, pods, key, (pod) => pod?.status?.phase === 'Pending');
  const state = pending?.status?.containerStatuses?.find(({ name }) => name === 'volumeroot')?.state;
  assert.equal(state?.waiting?.reason, 'ErrImagePull');
  assert.match(state.waiting.message ?? '', /there is no OCI layout/);
  assert.ok(node.recorder.events.some(({ reason, type }) => reason === 'Failed' && type === 'Warning'));
});

test('other pods, unknown containers and a missing launcher program fail in words', async (t) => {
  const node = await testNode(t);
  const { client } = node;
  await node.start();
  const plain = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name: 'web' } };
  await client.create(pods, {
    ...plain,
    spec: { nodeName, containers: [{ name: 'nginx', image: 'nginx' }] },
  });
  const web = await eventually(client, pods, { namespace, name: 'web' }, phase('Failed'));
  assert.match(web?.status?.message ?? '', /launchers of virtual machines only/);
  await client.delete(pods, { namespace, name: 'web' });
  await eventually(client, pods, { namespace, name: 'web' }, gone);
  const { key } = await create(node, { containers: [{ name: 'compute' }, { name: 'sidecar', image: 'x' }] });
  const refused = await eventually(client, pods, key, phase('Failed'));
  assert.match(refused?.status?.message ?? '', /container "sidecar"/);
});

test('a launcher that cannot start, and one that ends at once', async (t) => {
  const node = await testNode(t);
  const agent = await node.start({ command: ['/no/such/program'] });
  const { key, pod } = await create(node);
  const failed = await eventually(node.client, pods, key, phase('Failed'));
  assert.match(failed?.status?.message ?? '', /cannot start the launcher "\/no\/such\/program"/);
  assert.equal(failed?.status?.reason, 'StartError');
  await agent.stop();
  node.client.remove(pods, key);
  node.client.remove(virtualMachineInstances, { namespace, name: 'vm' });
  await node.start({ fake: { exitCode: 7 } });
  await create(node);
  const ended = await eventually(node.client, pods, key, phase('Failed'));
  assert.match(ended?.status?.message ?? '', /ended with code 7/);
  assert.equal(ended?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 7);
  assert.equal(await exists(node.directories.of(pod.metadata.uid).path), false);
});

test('the guest powers off: the pod Succeeded, its directory stays until it is deleted', async (t) => {
  const node = await testNode(t);
  const agent = await node.start();
  const { pod, vmi, key } = await create(node);
  await eventually(node.client, pods, key, phase('Running'));
  await boot(node, pod, vmi);
  const directory = node.directories.of(pod.metadata.uid);
  await tellLauncher(directory, {
    state: 'Shutoff',
    reason: 'GuestShutdown',
    message: 'the guest powered off',
  });
  const ended = await eventually(node.client, pods, key, phase('Succeeded'));
  assert.equal(ended?.status?.containerStatuses?.[0]?.state?.terminated?.reason, 'Completed');
  assert.equal((await directory.finalStatus())?.reason, 'GuestShutdown');
  await node.client.delete(pods, key);
  await idle(agent);
  assert.equal(await exists(directory.path), false);
});

test('SIGKILL of a launcher: its QEMU does not linger and the pod is Failed', async (t) => {
  const node = await testNode(t);
  await node.start();
  const { pod, vmi, key } = await create(node);
  await eventually(node.client, pods, key, phase('Running'));
  await boot(node, pod, vmi);
  const directory = node.directories.of(pod.metadata.uid);
  const qemu = await pidFrom(directory, 'qemu/qemu.pid');
  assert.ok(await readProcess(qemu));
  process.kill(await pidFrom(directory, 'launcher.json'), 'SIGKILL');
  const failed = await eventually(node.client, pods, key, phase('Failed'));
  assert.match(failed?.status?.message ?? '', /ended by SIGKILL/);
  assert.equal(failed?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 137);
  assert.equal(await readProcess(qemu), undefined);
});

test('deletion is graceful, and forced when the grace period is over', async (t) => {
  const node = await testNode(t);
  const agent = await node.start();
  const { pod, vmi, key } = await create(node);
  await eventually(node.client, pods, key, phase('Running'));
  await boot(node, pod, vmi);
  await node.client.delete(pods, key);
  await eventually(node.client, pods, key, gone);
  assert.deepEqual(await node.directories.list(), []);
  await agent.stop();
  node.client.remove(virtualMachineInstances, { namespace, name: 'vm' });
  await node.start({ fake: { ignoreTerm: true } });
  const stubborn = await create(node);
  await eventually(node.client, pods, key, phase('Running'));
  await boot(node, stubborn.pod, stubborn.vmi);
  const directory = node.directories.of(stubborn.pod.metadata.uid);
  const pids = [await pidFrom(directory, 'launcher.json'), await pidFrom(directory, 'qemu/qemu.pid')];
  await node.client.delete(pods, key, { gracePeriodSeconds: 1 });
  await eventually(node.client, pods, key, gone);
  for (const pid of pids) assert.equal(await readProcess(pid), undefined);
  assert.deepEqual(await node.directories.list(), []);
});

test('a restarted agent adopts running launchers and sees them end', async (t) => {
  const node = await testNode(t);
  const first = await node.start();
  const { pod, vmi, key } = await create(node);
  await eventually(node.client, pods, key, phase('Running'));
  await boot(node, pod, vmi);
  const directory = node.directories.of(pod.metadata.uid);
  const launcher = await pidFrom(directory, 'launcher.json');
  await first.stop();
  assert.ok(await readProcess(launcher));
  const before = node.client.writes.length;
  const second = await node.start();
  await second.stop();
  assert.equal(node.client.writes.length, before);
  await node.start();
  await tellLauncher(directory, { state: 'Failed', reason: 'QEMUCrashed', message: 'QEMU died' });
  const failed = await eventually(node.client, pods, key, phase('Failed'));
  assert.equal(failed?.status?.reason, 'QEMUCrashed');
  assert.equal(failed.status.message, 'QEMU died');
});

test('a restarted agent finds what ended meanwhile, and what nobody wants any more', async (t) => {
  const node = await testNode(t);
  const first = await node.start();
  const { pod, vmi, key } = await create(node);
  const orphan = await node.client.create(pods, newPod(vmi, { name: 'orphan' }));
  await eventually(node.client, pods, key, phase('Running'));
  await eventually(node.client, pods, { namespace, name: 'orphan' }, phase('Running'));
  await boot(node, pod, vmi);
  const directory = node.directories.of(pod.metadata.uid);
  const launcher = await pidFrom(directory, 'launcher.json');
  const orphanPid = await pidFrom(node.directories.of(orphan.metadata.uid), 'launcher.json');
  await first.stop();
  process.kill(launcher, 'SIGKILL');
  const qemu = await pidFrom(directory, 'qemu/qemu.pid');
  node.client.remove(pods, { namespace, name: 'orphan' });
  await node.start();
  await eventually(node.client, pods, key, phase('Failed'));
  assert.equal(await readProcess(qemu), undefined);
  await node.client.delete(pods, key);
  await eventually(node.client, pods, key, gone);
  while ((await node.directories.list()).length > 0) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await readProcess(orphanPid), undefined);
});

test('a pod that is gone from the API is ended; one that a watch only lost is not', async (t) => {
  const node = await testNode(t);
  const agent = await node.start();
  const { pod, vmi, key } = await create(node);
  await eventually(node.client, pods, key, phase('Running'));
  await boot(node, pod, vmi);
  const launcher = await pidFrom(node.directories.of(pod.metadata.uid), 'launcher.json');
  node.client.put(pods, key, (current) => ({ ...current, spec: { containers: [], nodeName: 'elsewhere' } }));
  await eventually(node.client, pods, key, (pod) => pod?.spec?.nodeName === 'elsewhere');
  assert.ok(await readProcess(launcher));
  node.client.put(pods, key, (current) => ({ ...current, spec: { containers: [], nodeName } }));
  node.client.remove(pods, key);
  await idle(agent);
  assert.equal(await readProcess(launcher), undefined);
  assert.deepEqual(await node.directories.list(), []);
});

test('created and deleted many times, nothing is left', async (t) => {
  const node = await testNode(t);
  const agent = await node.start();
  const vmi = await node.client.create(virtualMachineInstances, newVmi('vm'));
  const round = async (): Promise<void> => {
    const names = Array.from({ length: 5 }, (_, index) => `pod-${index}`);
    for (const name of names) await node.client.create(pods, newPod(vmi, { name }));
    await Promise.all(
      names.map((name) => eventually(node.client, pods, { namespace, name }, phase('Running'))),
    );
    for (const name of names) await node.client.delete(pods, { namespace, name });
    await Promise.all(names.map((name) => eventually(node.client, pods, { namespace, name }, gone)));
    await idle(agent);
  };
  const descriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length;
  await round();
  const before = await descriptors();
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const timersBefore = timers();
  for (let count = 0; count < 3; count++) await round();
  assert.ok((await descriptors()) <= before, `${await descriptors()} descriptors, ${before} before`);
  assert.ok(timers() <= timersBefore);
  assert.deepEqual(await node.directories.list(), []);
});
