/**
 * A node agent beside a kubelet with many launchers: its memory, and what it costs while nothing happens. The launchers are stubs, all in this
 * process, as is what of a kubelet talks with device plugins. And how long a VM takes to start beside what QEMU takes.
 */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, credentials } from '@grpc/grpc-js';
import { createHttpClient, type HttpClient } from '../../controllers/runtime/http-client.js';
import { loadConnection } from '../../controllers/runtime/kubeconfig.js';
import { nodes, pods, virtualMachineInstances } from '../../controllers/runtime/kinds.js';
import { deviceResources, privateVolume } from '../../openapi/launcher/pod.js';
import { podLayout } from '../../openapi/launcher/protocol.js';
import { FakeKubelet } from '../../node-agent/kubelet/device-plugin/testing/fake-kubelet.js';
import { listAndWatch } from '../../node-agent/kubelet/device-plugin/testing/kubelet-api.js';
import { newPod, newVmi, namespace } from '../../node-agent/testing/objects.js';
import { AgentProcess } from '../node-agent/agent-process.js';
import { cpuMilliseconds, privateBytes, residentBytes } from './process-figures.js';
import { startServer } from './server.js';
import { megabytes, table } from './table.js';
import { benchVirtualMachines } from './virtual-machines.js';

const machines = 100;
const nodeName = 'node-1';
const restSeconds = 20;
const containerID = `containerd://${'ab'.repeat(32)}`;

export async function benchNode(): Promise<string> {
  return [await benchAgent(), await benchVirtualMachines()].join('\n\n');
}

async function benchAgent(): Promise<string> {
  const directory = mkdtempSync(path.join(tmpdir(), 'nativirt-bench-node-'));
  const [kubelet, proc] = [path.join(directory, 'kubelet'), path.join(directory, 'proc')];
  const plugins = path.join(kubelet, 'device-plugins');
  mkdirSync(plugins, { recursive: true });
  mkdirSync(path.join(proc, '4711'), { recursive: true });
  writeFileSync(path.join(proc, '4711/cgroup'), `0::/kubepods/pod/${'ab'.repeat(32)}\n`);
  const server = await startServer(['--controllers', ''], path.join(directory, 'data'));
  const kubeconfig = path.join(server.dataDirectory, 'admin.kubeconfig');
  const client = createHttpClient({
    ...(await loadConnection(kubeconfig)),
    userAgent: 'bench',
    fieldManager: 'bench',
  });
  const agent = await AgentProcess.create({
    kubeconfig,
    nodeName,
    directory: path.join(directory, 'agent'),
    flags: ['--kubelet-dir', kubelet, '--proc-dir', proc, '--log-level', 'warn'],
  });
  const launchers: StubLauncher[] = [];
  const deviceManager = new FakeKubelet(plugins);
  const calls: Client[] = [];
  try {
    await deviceManager.start();
    await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } });
    agent.start();
    await until(async () => (await client.get(nodes, { name: nodeName })).metadata.annotations !== undefined);
    for (const resource of Object.values(deviceResources)) {
      const { endpoint } = await deviceManager.registration();
      const call = new Client(`unix://${path.join(plugins, endpoint)}`, credentials.createInsecure());
      calls.push(call);
      // It fails when the agent is killed in the end.
      const list = listAndWatch(call).on('error', () => undefined);
      const [{ devices }] = (await once(list, 'data')) as [{ devices: unknown[] }];
      if (devices.length === 0) throw new Error(`no device of ${resource}`);
    }
    await delay(5000);
    const idle = await figures(agent.pid);
    for (let index = 0; index < machines; index++)
      launchers.push(await startMachine(client, kubelet, `vm-${index}`));
    await until(async () => {
      const { items } = await client.list(virtualMachineInstances, { namespace });
      return items.every(({ status }) => status?.phase === 'Running');
    });
    await delay(10_000);
    const busy = await figures(agent.pid);
    const row = (title: string, { resident, own, share }: Figures): string[] => [
      title,
      megabytes(resident),
      megabytes(own),
      `${share.toFixed(2)} %`,
    ];
    return table(
      ['node agent', 'resident', 'private', 'CPU at rest'],
      [row('no VM', idle), row(`${machines} VMs`, busy)],
    );
  } finally {
    for (const call of calls) call.close();
    await agent.kill();
    deviceManager.stop();
    for (const launcher of launchers) launcher.close();
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Figures {
  readonly resident: number;
  readonly own: number;
  /** Per cent of one core. */
  readonly share: number;
}

async function figures(pid: number): Promise<Figures> {
  const before = cpuMilliseconds(pid);
  await delay(restSeconds * 1000);
  const share = (cpuMilliseconds(pid) - before) / (restSeconds * 10);
  return { resident: residentBytes(pid), own: privateBytes(pid), share };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 120_000; performance.now() < end;) {
    if (await holds()) return;
    await delay(100);
  }
  throw new Error('not within two minutes');
}

/** A VMI as its controller hands it over: its pod runs, and its launcher says that the guest does. */
async function startMachine(client: HttpClient, kubelet: string, name: string): Promise<StubLauncher> {
  const vmi = await client.create(virtualMachineInstances, newVmi(name));
  const { metadata } = await client.create(pods, newPod(vmi, { hostNetwork: true }));
  const directory = path.join(
    kubelet,
    'pods',
    metadata.uid,
    'volumes/kubernetes.io~empty-dir',
    privateVolume,
  );
  mkdirSync(directory, { recursive: true });
  const launcher = await StubLauncher.listen(directory, vmi.metadata.uid);
  const compute = { name: 'compute', image: '', imageID: '', ready: true, restartCount: 0, containerID };
  const running = { phase: 'Running', containerStatuses: [{ ...compute, state: { running: {} } }] };
  const scheduled = { phase: 'Scheduled', nodeName, activePods: { [metadata.uid]: nodeName } };
  await client.patch(pods, metadata, { type: 'merge', body: { status: running } }, 'status');
  await client.patch(
    virtualMachineInstances,
    vmi.metadata,
    { type: 'merge', body: { status: scheduled } },
    'status',
  );
  return launcher;
}

/** Answers every call with its one status. */
class StubLauncher {
  private constructor(
    private readonly server: Server,
    private readonly sockets: Set<Socket>,
  ) {}

  static async listen(podDirectory: string, uid: string): Promise<StubLauncher> {
    const status = {
      sequence: 1,
      state: 'Running',
      reason: 'Started',
      message: 'The guest runs.',
      uid,
      accelerator: 'kvm',
      machineType: 'pc-q35-7.2',
      guestAgentConnected: false,
    };
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
      createInterface({ input: socket }).on('line', (line) => {
        const { id } = JSON.parse(line) as { id: number };
        socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: status })}\n`);
      });
    });
    // The whole path is longer than a socket's address may be.
    const before = process.cwd();
    process.chdir(podDirectory);
    server.listen(podLayout.controlSocket);
    process.chdir(before);
    await once(server, 'listening');
    return new StubLauncher(server, sockets);
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}
