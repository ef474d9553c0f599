/** The agent with the real launcher, over a stub of QEMU. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before, type TestContext } from 'node:test';
import { findCondition } from '../controllers/runtime/conditions.js';
import { pods, virtualMachineInstances } from '../controllers/runtime/kinds.js';
import { FakeClient } from '../controllers/runtime/testing/fake-client.js';
import { SilentLogger } from '../controllers/runtime/testing/silent-logger.js';
import { ensureCa } from '../apiserver/pki/authority.js';
import { launcherEnvironment, launcherNodeFlags } from '../launcher/node-flags.js';
import type { VirtualMachineInstance } from '../openapi/generated/types/kubevirt_v1.js';
import { nodeAgentServerName } from '../openapi/node-agent.js';
import { bundleLauncher } from '../test/fake-qemu/launcher-process.js';
import { fakeQemu } from '../test/fake-qemu/path.js';
import { createNodeAgent } from './agent.js';
import { diskImage, writeLayout } from './images/testing/images.js';
import { PodDirectories } from './pod-directory.js';
import { readProcess } from './processes.js';
import { eventually } from './testing/eventually.js';
import { namespace, newPod, newVmi, nodeName } from './testing/objects.js';
import { pidFrom } from './testing/runtime.js';

const launcher: { bundle: string; remove: () => void } = { bundle: '', remove: () => undefined };
before(async () => {
  Object.assign(launcher, await bundleLauncher());
});
after(() => {
  launcher.remove();
});

const inPhase = (phase: string) => (vmi: VirtualMachineInstance | undefined) => vmi?.status?.phase === phase;

async function setUp(t: TestContext, disk = Buffer.alloc(1024 * 1024)) {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-real-'));
  const dataDirectory = join(directory, 'data');
  const directories = new PodDirectories(join(dataDirectory, 'pods'));
  const authority = await ensureCa(join(directory, 'pki'));
  const dnsNames = [nodeAgentServerName(nodeName)];
  const server = authority.issue({ commonName: 'node', dnsNames, usages: ['server'], days: 1 });
  const client = new FakeClient();
  const stops: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const stop of stops) await stop();
    for (const uid of await directories.list()) await directories.of(uid).killProcesses();
    await rm(directory, { recursive: true, force: true });
  });
  const start = async (): Promise<{ stop: () => Promise<void> }> => {
    const agent = await createNodeAgent({
      client,
      nodeName,
      pods: {
        kind: 'processes',
        dataDirectory,
        launcher: {
          command: [process.execPath, ...launcherNodeFlags, launcher.bundle, '--qemu', fakeQemu],
          environment: { ...launcherEnvironment, PATH: process.env['PATH'] ?? '' },
        },
        images: { layoutDirectories: [directory] },
      },
      streams: { credentials: () => ({ ca: authority.cert, ...server }), host: '127.0.0.1', port: 0 },
      version: '0.1.0',
      logger: new SilentLogger(),
    });
    const controller = new AbortController();
    const running = agent.run(controller.signal);
    const stop = async (): Promise<void> => {
      controller.abort();
      await running;
    };
    stops.push(stop);
    await agent.ready;
    return { stop };
  };
  await mkdir(join(directory, 'layout'));
  await writeLayout(join(directory, 'layout'), { '': await diskImage(disk) });
  const image = `oci:${directory}/layout`;
  const boot = async (name: string) => {
    const vmi = await client.create(
      virtualMachineInstances,
      newVmi(name, {
        domain: {
          devices: { disks: [{ name: 'root', disk: { bus: 'virtio' } }] },
          memory: { guest: '128Mi' },
        },
        volumes: [{ name: 'root', containerDisk: { image } }],
      }),
    );
    const containers = [{ name: 'compute' }, { name: 'volumeroot', image }];
    const pod = await client.create(pods, newPod(vmi, { containers }));
    await eventually(client, pods, pod.metadata, (found) => found?.status?.phase === 'Running');
    const key = { namespace, name };
    client.put(virtualMachineInstances, key, (current) => ({
      ...current,
      metadata: { ...current.metadata, finalizers: ['kubevirt.io/foregroundDeleteVirtualMachine'] },
      status: { phase: 'Scheduled', nodeName, activePods: { [pod.metadata.uid]: nodeName } },
    }));
    const directory = directories.of(pod.metadata.uid);
    const until = (accept: (found: VirtualMachineInstance | undefined) => boolean) =>
      eventually(client, virtualMachineInstances, key, accept);
    return { pod, directory, until, key };
  };
  return { client, start, boot };
}

test('boots from a container disk and ends by ACPI', async (t) => {
  const { client, start, boot } = await setUp(t);
  await start();
  const { pod, until, key } = await boot('vm');
  const vmi = await until(inPhase('Running'));
  assert.match(vmi?.status?.machine?.type ?? '', /q35/);
  await client.delete(virtualMachineInstances, key);
  await until(inPhase('Succeeded'));
  const ended = await eventually(client, pods, pod.metadata, (found) => found?.status?.phase === 'Succeeded');
  assert.equal(ended?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 0);
});

test('outlives its agent, and falls with its launcher', async (t) => {
  const { client, start, boot } = await setUp(t);
  const { stop } = await start();
  const { pod, directory, until } = await boot('vm');
  await until(inPhase('Running'));
  const [launcherPid, qemuPid] = [
    await pidFrom(directory, 'launcher.json'),
    await pidFrom(directory, 'qemu/qemu.pid'),
  ];
  await stop();
  assert.ok(await readProcess(launcherPid));
  assert.ok(await readProcess(qemuPid));
  const writes = client.writes.length;
  const second = await start();
  await second.stop();
  assert.deepEqual(
    client.writes
      .slice(writes)
      .filter(({ resource }) => resource === 'virtualmachineinstances' || resource === 'pods'),
    [],
  );
  await start();
  process.kill(launcherPid, 'SIGKILL');
  const failed = await until(inPhase('Failed'));
  assert.equal(findCondition(failed?.status?.conditions, 'Ready')?.status, 'False');
  await eventually(client, pods, pod.metadata, (found) => found?.status?.phase === 'Failed');
  assert.equal(await readProcess(qemuPid), undefined);
});

test('an image that points at files of the node fails the VMI, with the launcher’s words', async (t) => {
  const qcow2 = Buffer.alloc(64 * 1024);
  qcow2.write('QFI\xfb', 'latin1');
  qcow2.writeUInt32BE(3, 4);
  qcow2.writeBigUInt64BE(512n, 8);
  qcow2.writeUInt32BE(11, 16);
  qcow2.write('/etc/shadow', 512);
  const { start, boot } = await setUp(t, qcow2);
  await start();
  const { directory, until } = await boot('vm');
  const failed = await until(inPhase('Failed'));
  assert.equal(failed?.status?.reason, 'ImageRefused');
  assert.match(
    findCondition(failed.status.conditions, 'Synchronized')?.message ?? '',
    /volume root was refused/,
  );
  assert.match(await readFile(directory.log, 'utf8'), /"vmi":"default\/vm"/);
});
