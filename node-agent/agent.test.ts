import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { ensureCa } from '../apiserver/pki/authority.js';
import { findCondition } from '../controllers/runtime/conditions.js';
import {
  events,
  kubeVirts,
  leases,
  nodes,
  pods,
  virtualMachineInstances,
} from '../controllers/runtime/kinds.js';
import { FakeClient } from '../controllers/runtime/testing/fake-client.js';
import { SilentLogger } from '../controllers/runtime/testing/silent-logger.js';
import {
  apiserverUser,
  nodeAgentAddressAnnotation,
  nodeAgentServerName,
  nodeAgentPath,
} from '../openapi/node-agent.js';
import type { Node } from '../openapi/generated/types/core_v1.js';
import { createNodeAgent, type NodeAgentOptions } from './agent.js';
import { eventually } from './testing/eventually.js';
import { namespace, newKubeVirt, newPod, newVmi, nodeName } from './testing/objects.js';
import { fakeLauncher } from './testing/runtime.js';

async function setUp(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-agent-'));
  const stops: (() => Promise<void>)[] = [];
  t.after(async () => {
    // What still runs would go on to write there.
    await Promise.all(stops.map((stop) => stop()));
    await rm(directory, { recursive: true, force: true });
  });
  const authority = await ensureCa(join(directory, 'pki'));
  const dnsNames = [nodeAgentServerName(nodeName)];
  const server = authority.issue({ commonName: 'node', dnsNames, usages: ['server'], days: 1 });
  const apiserver = authority.issue({ commonName: apiserverUser, usages: ['client'], days: 1 });
  const client = new FakeClient();
  const start = async (more: Pick<NodeAgentOptions, 'setVerbosity'> = {}) => {
    const agent = await createNodeAgent({
      client,
      nodeName,
      pods: {
        kind: 'processes',
        dataDirectory: join(directory, nodeName),
        launcher: { command: fakeLauncher, environment: {} },
        images: { layoutDirectories: [] },
      },
      streams: { credentials: () => ({ ca: authority.cert, ...server }), host: '127.0.0.1', port: 0 },
      version: '0.1.0',
      logger: new SilentLogger(),
      ...more,
    });
    const controller = new AbortController();
    const running = agent.run(controller.signal);
    const stop = async (): Promise<void> => {
      controller.abort();
      await running;
    };
    stops.push(stop);
    await agent.ready;
    return { agent, stop };
  };
  const tls = { ca: authority.cert, servername: nodeAgentServerName(nodeName), ...apiserver };
  const open = (address: string, uid: string) =>
    new WebSocket(`wss://${address}${nodeAgentPath(namespace, 'vm', 'console')}?uid=${uid}`, tls);
  return { client, start, open };
}

test('a VMI from its pod to its end, with a console, over two lives of the agent', async (t) => {
  const { client, start, open } = await setUp(t);
  const first = await start();
  assert.equal(first.agent.isReady(), true);
  const node = await eventually(
    client,
    nodes,
    { name: nodeName },
    (found) => findCondition(found?.status?.conditions, 'Ready')?.status === 'True',
  );
  const address = node?.metadata.annotations?.[nodeAgentAddressAnnotation] ?? '';
  await eventually(
    client,
    leases,
    { namespace: 'kube-node-lease', name: nodeName },
    (found) => found !== undefined,
  );

  const key = { namespace, name: 'vm' };
  const vmi = await client.create(virtualMachineInstances, newVmi('vm'));
  const pod = await client.create(pods, newPod(vmi));
  await eventually(client, pods, pod.metadata, (found) => found?.status?.phase === 'Running');
  client.put(virtualMachineInstances, key, (current) => ({
    ...current,
    metadata: { ...current.metadata, finalizers: ['kubevirt.io/foregroundDeleteVirtualMachine'] },
    status: { phase: 'Scheduled', nodeName, activePods: { [pod.metadata.uid]: nodeName } },
  }));
  await eventually(client, virtualMachineInstances, key, (found) => found?.status?.phase === 'Running');

  const socket = open(address, vmi.metadata.uid);
  const echoed = new Promise<string>((resolve) => {
    socket.on('message', (data: Buffer) => {
      resolve(data.toString());
    });
  });
  socket.on('open', () => {
    socket.send('hello');
  });
  assert.equal(await echoed, 'hello');
  const { imageBytes, ...counts } = first.agent.counts();
  assert.equal(imageBytes, 0);
  assert.deepEqual(counts, { pods: 1, launcherSessions: 1, streams: 1, images: 0 });
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await first.stop();
  assert.equal(await closed, 1001);
  assert.equal(first.agent.isReady(), false);

  await start();
  await client.delete(virtualMachineInstances, key);
  await eventually(client, virtualMachineInstances, key, (found) => found?.status?.phase === 'Succeeded');
  await client.delete(pods, pod.metadata);
  await eventually(client, pods, pod.metadata, (found) => found === undefined);
  const reasons = client.all(events).map(({ reason }) => reason);
  for (const reason of ['Started', 'ShuttingDown', 'Stopped']) assert.ok(reasons.includes(reason), reason);
});

const ready = (node: Node | undefined) => findCondition(node?.status?.conditions, 'Ready');

test('a machine that shuts down ends its guests, and says so of itself, its pods and its instances', async (t) => {
  const { client, start } = await setUp(t);
  const { agent, stop } = await start();
  const key = { namespace, name: 'vm' };
  const vmi = await client.create(virtualMachineInstances, newVmi('vm'));
  const pod = await client.create(pods, newPod(vmi));
  await eventually(client, pods, pod.metadata, (found) => found?.status?.phase === 'Running');
  client.put(virtualMachineInstances, key, (found) => ({
    ...found,
    status: { phase: 'Scheduled', nodeName, activePods: { [pod.metadata.uid]: nodeName } },
  }));
  await eventually(client, virtualMachineInstances, key, (found) => found?.status?.phase === 'Running');
  await agent.shutDown(20_000);
  const node = client.find(nodes, { name: nodeName });
  assert.deepEqual([ready(node)?.status, ready(node)?.message], ['False', 'node is shutting down']);
  assert.equal(node?.metadata.labels?.['kubevirt.io/schedulable'], 'false');
  assert.match(client.find(pods, pod.metadata)?.status?.phase ?? '', /Succeeded|Failed/);
  const { phase, reason } = client.find(virtualMachineInstances, key)?.status ?? {};
  assert.deepEqual([phase, reason], ['Failed', 'NodeShutdown']);
  const late = await client.create(
    pods,
    newPod(await client.create(virtualMachineInstances, newVmi('late'))),
  );
  await stop();
  assert.equal(client.find(pods, late.metadata)?.status?.phase, undefined, 'nothing starts any more');
  await start();
  await eventually(client, nodes, { name: nodeName }, (found) => ready(found)?.status === 'True');
  await eventually(client, pods, late.metadata, (found) => found?.status?.phase === 'Running');
  await client.delete(pods, late.metadata, { gracePeriodSeconds: 0 });
  await eventually(client, pods, late.metadata, (found) => found === undefined);
});

test('the log is told what the KubeVirt object says of the node, or else of all node agents', async (t) => {
  const { client, start } = await setUp(t);
  let heard: (verbosity: number | undefined) => void = () => undefined;
  const next = () => new Promise<number | undefined>((resolve) => (heard = resolve));
  await start({ setVerbosity: (verbosity) => heard(verbosity) });
  const first = next();
  const { metadata } = await client.create(
    kubeVirts,
    newKubeVirt({
      developerConfiguration: {
        logVerbosity: { virtHandler: 3, virtController: 8, nodeVerbosity: { [nodeName]: 6, other: 7 } },
      },
    }),
  );
  assert.equal(await first, 6);
  const second = next();
  client.put(kubeVirts, metadata, (current) => ({
    ...current,
    spec: { configuration: { developerConfiguration: { logVerbosity: { virtHandler: 3 } } } },
  }));
  assert.equal(await second, 3);
  const last = next();
  await client.delete(kubeVirts, metadata);
  assert.equal(await last, undefined);
});

test('requests are sent as fast as the KubeVirt object allows, but the Node waits for none of them', async (t) => {
  const { client, start } = await setUp(t);
  await start();
  const node = { name: nodeName };
  await eventually(client, nodes, node, (found) => ready(found)?.status === 'True');
  const { metadata } = await client.create(
    kubeVirts,
    newKubeVirt({
      handlerConfiguration: {
        restClient: { rateLimiter: { tokenBucketRateLimiter: { qps: 0.0001, burst: 1 } } },
      },
    }),
  );
  const vmi = await client.create(virtualMachineInstances, newVmi('vm'));
  const before = client.writes.length;
  const pod = await client.create(pods, newPod(vmi));
  client.remove(nodes, node);
  await eventually(client, nodes, node, (found) => ready(found)?.status === 'True');
  const others = client.writes
    .slice(before + 1)
    .filter(({ resource }) => resource !== 'nodes' && resource !== 'leases');
  assert.ok(others.length <= 1, JSON.stringify(others));
  assert.notEqual(client.find(pods, pod.metadata)?.status?.phase, 'Running');
  await client.delete(kubeVirts, metadata);
  await eventually(client, pods, pod.metadata, (found) => found?.status?.phase === 'Running');
  await client.delete(pods, pod.metadata, { gracePeriodSeconds: 0 });
  await eventually(client, pods, pod.metadata, (found) => found === undefined);
});
