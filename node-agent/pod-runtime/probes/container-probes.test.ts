import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { findCondition } from '../../../controllers/runtime/conditions.js';
import { pods, virtualMachineInstances } from '../../../controllers/runtime/kinds.js';
import type { Container, Pod } from '../../../openapi/generated/types/core_v1.js';
import { podDirectory } from '../../../openapi/launcher/pod.js';
import { eventually } from '../../testing/eventually.js';
import { namespace, newPod, newVmi } from '../../testing/objects.js';
import { testNode, type TestNode } from '../../testing/runtime.js';

/** As the controller puts a probe by the guest's agent into the pod. */
const byAgent = {
  exec: {
    command: ['nativirt', 'launcher', `--pod-dir=${podDirectory}`, '--probe-timeout=30', '--probe', '--'],
  },
  periodSeconds: 1,
  timeoutSeconds: 30,
  failureThreshold: 1,
};

async function create(node: TestNode, probes: Pick<Container, 'readinessProbe' | 'livenessProbe'>) {
  const vmi = await node.client.create(virtualMachineInstances, newVmi('vm'));
  const containers = [{ name: 'compute', image: 'launcher', ...probes }];
  const { metadata } = await node.client.create(pods, newPod(vmi, { containers }));
  return { key: { namespace, name: metadata.name }, directory: node.directories.of(metadata.uid) };
}

const isReady = (wanted: boolean) => (pod: Pod | undefined) =>
  pod?.status?.phase === 'Running' &&
  pod.status.containerStatuses?.[0]?.ready === wanted &&
  findCondition(pod.status.conditions, 'ContainersReady')?.status === (wanted ? 'True' : 'False') &&
  findCondition(pod.status.conditions, 'Ready')?.status === (wanted ? 'True' : 'False');

test('a pod is ready while the readiness probe of its guest says so, whoever looks', async (t) => {
  const node = await testNode(t);
  const first = await node.start();
  const { key, directory } = await create(node, { readinessProbe: byAgent });
  await eventually(node.client, pods, key, isReady(true));
  writeFileSync(join(directory.path, 'probe-fails'), '');
  await eventually(node.client, pods, key, isReady(false));
  assert.equal(node.recorder.reasons().filter((reason) => reason === 'Unhealthy').length, 1);
  await first.stop();
  await node.start();
  rmSync(join(directory.path, 'probe-fails'));
  await eventually(node.client, pods, key, isReady(true));
});

test('a probe by TCP goes to the port of the guest', async (t) => {
  const server = createServer((socket) => socket.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const node = await testNode(t);
  await node.start();
  const { key } = await create(node, {
    readinessProbe: { tcpSocket: { port }, periodSeconds: 1, timeoutSeconds: 30 },
  });
  await eventually(node.client, pods, key, isReady(true));
});

test('a guest whose liveness probe fails is ended, as its pod allows', async (t) => {
  const node = await testNode(t);
  await node.start();
  const { key, directory } = await create(node, {
    livenessProbe: { ...byAgent, initialDelaySeconds: 1, terminationGracePeriodSeconds: 10 },
  });
  await eventually(node.client, pods, key, isReady(true));
  writeFileSync(join(directory.path, 'probe-fails'), '');
  const ended = await eventually(node.client, pods, key, (pod) =>
    ['Failed', 'Succeeded'].includes(pod?.status?.phase ?? ''),
  );
  assert.ok(ended?.status?.containerStatuses?.[0]?.state?.terminated);
  const told = node.recorder.events.map(({ reason, message }) => `${reason} ${message}`).join('\n');
  assert.match(told, /Unhealthy Liveness probe failed/);
  assert.match(told, /Killing Stopping the launcher: its liveness probe fails/);
  assert.deepEqual(await directory.processes(), []);
});
