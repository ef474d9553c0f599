/** Whatever dies: nothing acknowledged is lost, guests go on, and the run strategy decides about the rest. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { converse } from './console.js';
import { Cluster, eventually } from './harness.js';
import { virtualMachine } from './manifests.js';

const phaseOf = async (cluster: Cluster, name: string): Promise<string> =>
  (await cluster.kubectl(['get', 'vmi', name, '-o', 'jsonpath={.status.phase}'])).stdout;

test('a server killed under load loses no write that it acknowledged', async (t) => {
  const cluster = await Cluster.start(t, { flags: ['--controllers='] });
  const acknowledged = new Set<string>();
  let next = 0;
  const writer = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const name = `kept-${next++}`;
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
      const result = await cluster.kubectl(['create', '-f', '-', '-o', 'name'], JSON.stringify(object));
      if (result.code === 0) acknowledged.add(result.stdout.trim());
    }
  };
  for (let round = 0; round < 3; round++) {
    const stop = new AbortController();
    const writers = [writer(stop.signal), writer(stop.signal)];
    try {
      const enough = acknowledged.size + 5 + round * 3;
      await eventually('some writes', () => acknowledged.size >= enough, 120);
      await cluster.kill('SIGKILL');
    } finally {
      stop.abort();
    }
    await Promise.all(writers);
    await cluster.start();
    const stored = new Set((await cluster.get(['get', 'configmaps', '-o', 'name'])).trim().split('\n'));
    assert.deepEqual(
      [...acknowledged].filter((name) => !stored.has(name)),
      [],
    );
  }
});

test('guests outlive their server and are adopted; a launcher killed takes its guest along', async (t) => {
  const cluster = await Cluster.start(t, { fakeQemu: true });
  await cluster.create(virtualMachine({ name: 'always' }));
  await cluster.create(virtualMachine({ name: 'once', runStrategy: 'Once' }));
  await cluster.wait('vm/always', 'condition=Ready');
  await cluster.wait('vm/once', 'condition=Ready');
  const guests = cluster.processes('qemu').sort();
  assert.equal(guests.length, 2);

  await t.test('the server is killed', async () => {
    await cluster.kill('SIGKILL');
    assert.deepEqual(cluster.processes('qemu').sort(), guests);
    await cluster.start();
    await cluster.wait('vm/always', 'condition=Ready');
    assert.equal(await phaseOf(cluster, 'always'), 'Running');
    assert.deepEqual(cluster.processes('qemu').sort(), guests);
    // The same console again: what the guest had printed, and an answer to what is typed.
    await converse(cluster, 'always', [
      ['login: ', 'hello\n'],
      ['hello', ''],
    ]);
  });

  await t.test('the launchers are killed', async () => {
    const before = await cluster.json<VirtualMachineInstance>(['get', 'vmi', 'always']);
    for (const pid of cluster.processes('launcher')) process.kill(pid, 'SIGKILL');
    await eventually(
      'their guests are gone',
      () => !cluster.processes('qemu').some((pid) => guests.includes(pid)),
    );
    await cluster.wait('vmi/once', 'jsonpath={.status.phase}=Failed', 30);
    await eventually(
      'Always runs a new guest',
      async () => {
        const { code, stdout } = await cluster.kubectl(['get', 'vmi', 'always', '-o', 'json']);
        const now = code === 0 ? (JSON.parse(stdout) as VirtualMachineInstance) : undefined;
        return (
          now !== undefined && now.metadata.uid !== before.metadata.uid && now.status?.phase === 'Running'
        );
      },
      60,
    );
  });
});
