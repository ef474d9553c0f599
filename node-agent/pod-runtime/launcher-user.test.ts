import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { systemClock } from '../../controllers/runtime/clock.js';
import { pods, secrets, virtualMachineInstances } from '../../controllers/runtime/kinds.js';
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import { LauncherClient } from '../launcher-client.js';
import { readProcess } from '../processes.js';
import { eventually } from '../testing/eventually.js';
import { namespace, newPod, newVmi } from '../testing/objects.js';
import { fakeLauncher, pidFrom, testNode, type TestNode } from '../testing/runtime.js';
import { chooseLauncherUser, type LauncherUser } from './launcher-user.js';

const environment = { PATH: process.env['PATH'] ?? '' };
const phase = (wanted: string) => (pod: Pod | undefined) => pod?.status?.phase === wanted;

/** Undefined where launchers can have no user of their own: the test says why it is skipped. */
async function userOf(t: TestContext, node: TestNode): Promise<LauncherUser | undefined> {
  chmodSync(node.directory, 0o711);
  await node.directories.create();
  const choice = await chooseLauncherUser(node.directories.root, { command: fakeLauncher, environment });
  if (choice.kind === 'unprivileged') return choice.user;
  t.skip(choice.why ?? 'only root can start launchers as another user');
  return undefined;
}

/** A line of /proc/<pid>/status. */
function fact(pid: number, name: string): string {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(text)?.[1] ?? '';
}

test('where the agent is root, launchers and what they start are not, and a later agent finds and ends them', async (t) => {
  const node = await testNode(t);
  const user = await userOf(t, node);
  if (user === undefined) return;
  await node.client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: 'keys' },
    data: { key: Buffer.from('secret').toString('base64') },
  });
  const first = await node.start({ user });
  const vmi = await node.client.create(virtualMachineInstances, newVmi('vm'));
  const volumes = [
    { name: 'keys', secret: { secretName: 'keys', defaultMode: 0o400 } },
    { name: 'scratch', emptyDir: {} },
  ];
  const { metadata } = await node.client.create(pods, newPod(vmi, { volumes }));
  const key = { namespace, name: metadata.name };
  await eventually(node.client, pods, key, phase('Running'));
  const directory = node.directories.of(metadata.uid);
  const client = await LauncherClient.connect(directory.controlSocket, { clock: systemClock });
  await client.call('start', { vmi });
  client.close();
  const pids = [await pidFrom(directory, 'launcher.json'), await pidFrom(directory, 'qemu/qemu.pid')];
  for (const pid of pids) {
    assert.match(fact(pid, 'Uid'), new RegExp(`^${user.uid}\\s+${user.uid}\\s+${user.uid}\\s`));
    assert.equal(fact(pid, 'NoNewPrivs'), '1');
    assert.equal(BigInt(`0x${fact(pid, 'CapEff')}`), 0n);
  }
  const owner = (path: string): number => statSync(join(directory.path, path)).uid;
  assert.equal(owner('status.json'), user.uid);
  assert.equal(owner('volumes/keys/key'), user.uid);
  assert.equal(owner('volumes/scratch'), user.uid);
  // It may write beside the agent's files, and not replace them.
  assert.equal(owner('launcher.json'), 0);
  assert.equal(statSync(directory.path).mode & 0o7777, 0o1770);

  await first.stop();
  for (const pid of pids) assert.ok(await readProcess(pid));
  await node.start({ user });
  await node.client.delete(pods, key);
  await eventually(node.client, pods, key, (pod) => pod === undefined);
  for (const pid of pids) assert.equal(await readProcess(pid), undefined);
});

test('a user who can not reach the pods is not taken, and the reason names the path', async (t) => {
  const node = await testNode(t);
  if ((await userOf(t, node)) === undefined) return;
  chmodSync(node.directory, 0o700);
  const choice = await chooseLauncherUser(node.directories.root, { command: fakeLauncher, environment });
  assert.equal(choice.kind, 'own');
  assert.match(choice.why ?? '', new RegExp(`can not reach ${node.directories.root}`));
});
