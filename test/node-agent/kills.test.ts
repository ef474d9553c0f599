/**
 * A node agent that is killed again and again while VMs start, run and stop loses nothing: the one that was left alone still runs in the
 * same QEMU, each other one is as it was asked for last, and nothing is left of those that are gone. `NATIVIRT_KILLS=100` for a
 * long run.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../controllers/runtime/client.js';
import { isNotFound } from '../../controllers/runtime/errors.js';
import { createHttpClient } from '../../controllers/runtime/http-client.js';
import { loadConnection } from '../../controllers/runtime/kubeconfig.js';
import { virtualMachineInstances, virtualMachines } from '../../controllers/runtime/kinds.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { Cluster, eventually } from '../e2e/harness.js';
import { fakeQemu } from '../fake-qemu/path.js';
import { AgentProcess } from './agent-process.js';

const kills = Number(process.env['NATIVIRT_KILLS'] ?? '10');
/** About what an agent takes from its start until it has nothing to do. Milliseconds. */
const longestLife = 1200;
const namespace = 'default';
const root = path.resolve(import.meta.dirname, '../..');

const machine = (name: string) => ({
  apiVersion: 'kubevirt.io/v1' as const,
  kind: 'VirtualMachine' as const,
  metadata: { namespace, name },
  spec: {
    runStrategy: 'Always' as const,
    template: {
      spec: {
        terminationGracePeriodSeconds: 0,
        domain: { memory: { guest: '64Mi' }, devices: {} },
      },
    },
  },
});

async function instance(client: Client, name: string): Promise<VirtualMachineInstance | undefined> {
  try {
    return await client.get(virtualMachineInstances, { namespace, name });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

const isRunning = async (client: Client, name: string): Promise<boolean> =>
  (await instance(client, name))?.status?.phase === 'Running';

test(`a node agent is killed ${kills} times, and no VM is lost`, async (t) => {
  const cluster = await Cluster.start(t, { flags: ['--controllers', ''] });
  const { kubeconfig, dataDirectory } = cluster;
  const client = createHttpClient({
    ...(await loadConnection(kubeconfig)),
    userAgent: 'test',
    fieldManager: 'test',
  });
  const controllers = spawn(
    path.join(root, 'bin/nativirt'),
    ['controllers', '--kubeconfig', kubeconfig, '--volume-directory', path.join(dataDirectory, 'volumes')],
    { stdio: 'ignore' },
  );
  const nodeDirectory = path.join(dataDirectory, 'node');
  const agent = await AgentProcess.create({
    kubeconfig,
    nodeName: 'node-1',
    directory: path.join(dataDirectory, 'agent'),
    flags: ['--register-node', '--data-dir', nodeDirectory, '--qemu', fakeQemu, '--log-level', 'warn'],
  });
  t.after(async () => {
    await agent.kill();
    controllers.kill('SIGKILL');
    await once(controllers, 'exit');
  });

  agent.start();
  await client.create(virtualMachines, machine('steady'));
  await eventually('the first VM runs', () => isRunning(client, 'steady'), 120);
  const [qemu] = cluster.processes('qemu');
  const uid = (await instance(client, 'steady'))?.metadata.uid;

  const others = ['one', 'two', 'three'];
  const wanted = new Set<string>();
  for (let kill = 0; kill < kills; kill++) {
    const name = others[kill % others.length] ?? '';
    if (wanted.delete(name)) await client.delete(virtualMachines, { namespace, name });
    else if (await isGone(client, name)) {
      await client.create(virtualMachines, machine(name));
      wanted.add(name);
    }
    await delay(Math.random() * longestLife);
    await agent.kill();
    assert.ok(cluster.processes('qemu').includes(qemu ?? 0), `the guest of "steady" died with kill ${kill}`);
    agent.start();
  }

  for (const name of wanted) await eventually(`${name} runs`, () => isRunning(client, name), 120);
  // A launcher stays for a moment after its QEMU, for somebody to hear its last word.
  await eventually(
    'nothing but what is asked for runs',
    () => (['qemu', 'launcher'] as const).every((kind) => cluster.processes(kind).length === wanted.size + 1),
    60,
  );
  assert.ok(cluster.processes('qemu').includes(qemu ?? 0));
  assert.equal((await instance(client, 'steady'))?.metadata.uid, uid);

  for (const name of ['steady', ...wanted]) await client.delete(virtualMachines, { namespace, name });
  const pods = path.join(nodeDirectory, 'pods');
  await eventually('nothing is left', () => !existsSync(pods) || readdirSync(pods).length === 0, 120);
  await eventually(
    'no process is left',
    () => cluster.processes('qemu').length + cluster.processes('launcher').length === 0,
    30,
  );
});

async function isGone(client: Client, name: string): Promise<boolean> {
  try {
    await client.get(virtualMachines, { namespace, name });
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}
