import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { ensureCa } from '../../apiserver/pki/authority.js';
import { findCondition } from '../../controllers/runtime/conditions.js';
import { nodes, pods, virtualMachineInstances } from '../../controllers/runtime/kinds.js';
import { FakeClient } from '../../controllers/runtime/testing/fake-client.js';
import { SilentLogger } from '../../controllers/runtime/testing/silent-logger.js';
import { privateVolume } from '../../openapi/launcher/pod.js';
import { terminationMessage } from '../../openapi/launcher/termination.js';
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import { nodeAgentServerName } from '../../openapi/node-agent.js';
import { createNodeAgent } from '../agent.js';
import { eventually } from '../testing/eventually.js';
import { namespace, newPod, newVmi, nodeName } from '../testing/objects.js';
import { fakeLauncher } from '../testing/runtime.js';

type VirtualMachineInstanceSpecPart = Parameters<typeof newVmi>[1];

const containerID = `containerd://${'ab'.repeat(32)}`;

/** A node whose kubelet runs one pod: its directory, its launcher and its Pod are there, and no agent yet. */
async function setUp(t: TestContext, spec: VirtualMachineInstanceSpecPart = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'nativirt-kubelet-'));
  const [kubelet, proc] = [join(directory, 'kubelet'), join(directory, 'proc')];
  mkdirSync(join(kubelet, 'device-plugins'), { recursive: true });
  mkdirSync(join(proc, '4711'), { recursive: true });
  writeFileSync(join(proc, '4711/cgroup'), `0::/kubepods.slice/cri-containerd-${'ab'.repeat(32)}.scope\n`);
  const authority = await ensureCa(join(directory, 'pki'));
  const server = authority.issue({
    commonName: 'node',
    dnsNames: [nodeAgentServerName(nodeName)],
    usages: ['server'],
    days: 1,
  });
  const client = new FakeClient();
  await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } });
  const created = await client.create(virtualMachineInstances, newVmi('vm', spec));
  const { metadata } = await client.create(pods, newPod(created));
  const { uid } = metadata;
  const podDirectory = join(kubelet, 'pods', uid, 'volumes/kubernetes.io~empty-dir', privateVolume);
  mkdirSync(podDirectory, { recursive: true });
  const [program = '', ...words] = fakeLauncher;
  const arguments_ = [
    '--pod-dir',
    podDirectory,
    '--namespace',
    namespace,
    '--name',
    'vm',
    '--uid',
    created.metadata.uid,
  ];
  const launcher = spawn(program, [...words, ...arguments_], {
    cwd: podDirectory,
    stdio: 'inherit',
    env: { FAKE_LAUNCHER: '{}' },
  });
  const exited = once(launcher, 'exit');
  const container =
    (state: object, ready = true) =>
    (pod: Pod) => ({
      ...pod,
      status: {
        phase: 'Running' as const,
        containerStatuses: [
          { name: 'compute', image: '', imageID: '', ready, restartCount: 0, containerID, state },
        ],
      },
    });
  client.put(pods, metadata, container({ running: {} }));
  client.put(virtualMachineInstances, { namespace, name: 'vm' }, (vmi) => ({
    ...vmi,
    status: { phase: 'Scheduled', nodeName, activePods: { [uid]: nodeName } },
  }));
  const start = async () => {
    const agent = await createNodeAgent({
      client,
      nodeName,
      pods: { kind: 'kubelet', directory: kubelet, proc },
      streams: { credentials: () => ({ ca: authority.cert, ...server }), host: '127.0.0.1', port: 0 },
      version: '0.1.0',
      logger: new SilentLogger(),
    });
    const stop = new AbortController();
    const running = agent.run(stop.signal);
    const end = async (): Promise<void> => {
      stop.abort();
      await running;
    };
    t.after(end);
    return end;
  };
  t.after(async () => {
    launcher.kill('SIGKILL');
    await exited;
    rmSync(directory, { recursive: true, force: true });
  });
  const until = (phase: string) =>
    eventually(
      client,
      virtualMachineInstances,
      { namespace, name: 'vm' },
      (vmi) => vmi?.status?.phase === phase,
    );
  const endPod = async (message: string): Promise<void> => {
    launcher.kill('SIGKILL');
    await exited;
    // As the kubelet does with the volumes of a pod that has ended.
    rmSync(podDirectory, { recursive: true });
    client.put(pods, metadata, container({ terminated: { exitCode: 0, reason: 'Completed', message } }));
  };
  const probe = (ready: boolean) => client.put(pods, metadata, container({ running: {} }, ready));
  return { client, start, until, endPod, podDirectory, probe };
}

const lastWord = {
  sequence: 9,
  state: 'Shutoff',
  reason: 'GuestShutdown',
  message: 'The guest powered off by itself.',
  uid: undefined,
  qemuPid: undefined,
  accelerator: undefined,
  machineType: undefined,
  qemuVersion: undefined,
  guestAgentConnected: false,
  guest: undefined,
} as const;

test('finds the launcher of a pod, hands it the VMI, and follows it over two lives of the agent', async (t) => {
  const { client, start, until, endPod } = await setUp(t);
  const first = await start();
  const vmi = await until('Running');
  assert.equal(vmi?.status?.runtimeUser, 107);
  assert.equal(findCondition(vmi.status.conditions, 'Ready')?.status, 'True');
  const node = await client.get(nodes, { name: nodeName });
  assert.equal(node.status, undefined, 'the status of a Node is its kubelet’s');
  await first();
  await start();
  await endPod(terminationMessage(lastWord));
  await until('Succeeded');
});

test('while no agent ran the guest ended, and the kubelet has removed its directory: the Pod tells how', async (t) => {
  const { start, until, endPod, podDirectory } = await setUp(t);
  const first = await start();
  await until('Running');
  await first();
  await endPod(
    terminationMessage({ ...lastWord, state: 'Failed', reason: 'GuestPanicked', message: 'It panicked.' }),
  );
  assert.equal(existsSync(podDirectory), false);
  await start();
  const vmi = await until('Failed');
  assert.equal(vmi?.status?.reason, 'GuestPanicked');
});

test('a guest with a readiness probe is ready when the kubelet says so', async (t) => {
  const { client, start, until, probe } = await setUp(t, { readinessProbe: { tcpSocket: { port: 22 } } });
  probe(false);
  await start();
  const vmi = await until('Running');
  assert.equal(findCondition(vmi?.status?.conditions, 'Ready')?.status, 'False');
  for (const ready of [true, false]) {
    probe(ready);
    const wanted = ready ? 'True' : 'False';
    await eventually(
      client,
      virtualMachineInstances,
      { namespace, name: 'vm' },
      (found) => findCondition(found?.status?.conditions, 'Ready')?.status === wanted,
    );
  }
});
