import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { systemClock } from '../../controllers/runtime/clock.js';
import { pods, virtualMachineInstances } from '../../controllers/runtime/kinds.js';
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import { LauncherClient } from '../launcher-client.js';
import { eventually } from '../testing/eventually.js';
import { newPod, newVmi } from '../testing/objects.js';
import { testNode, type TestNode } from '../testing/runtime.js';

async function runGuest(node: TestNode, name: string, priority?: number): Promise<Pod> {
  const { client, directories } = node;
  const vmi = await client.create(virtualMachineInstances, newVmi(name));
  const pod = await client.create(pods, newPod(vmi, priority === undefined ? {} : { priority }));
  await eventually(client, pods, pod.metadata, (found) => found?.status?.phase === 'Running');
  const launcher = await LauncherClient.connect(directories.of(pod.metadata.uid).controlSocket, {
    clock: systemClock,
  });
  await launcher.call('start', { vmi });
  launcher.close();
  return pod;
}

async function started(t: TestContext, fake: object = {}) {
  const node = await testNode(t);
  return { node, runtime: (await node.start({ fake })).runtime };
}

test('guests end by themselves, the least important first, and their pods tell how', async (t) => {
  const { node, runtime } = await started(t);
  const important = await runGuest(node, 'important', 1000);
  const others = [await runGuest(node, 'a'), await runGuest(node, 'b')];
  await runtime.shutDown(20_000);
  const ended = node.client.writes.filter(({ verb, subresource, body }) => {
    const { status } = (body ?? {}) as { status?: { phase?: string } };
    return verb === 'patch' && subresource === 'status' && status?.phase === 'Succeeded';
  });
  assert.equal(ended.length, 3);
  assert.equal(ended.at(-1)?.key, `${important.metadata.namespace ?? ''}/${important.metadata.name}`);
  for (const pod of [important, ...others])
    assert.deepEqual(await node.directories.of(pod.metadata.uid).processes(), []);
});

test('a guest that does not end is killed when the time is over', async (t) => {
  const { node, runtime } = await started(t, { ignoreShutdown: true });
  const pod = await runGuest(node, 'stubborn');
  await runtime.shutDown(1000);
  const phase = node.client.find(pods, pod.metadata)?.status?.phase;
  assert.ok(phase === 'Succeeded' || phase === 'Failed', phase);
  assert.deepEqual(await node.directories.of(pod.metadata.uid).processes(), []);
});
