/** Streams through every hop: nothing is left of those that have ended, and nothing is lost in those that flow. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import test, { type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { bytesOf } from '../../cli/relay.js';
import { openStream } from '../../cli/websocket.js';
import { loadKubeconfig, type ConnectionOptions } from '../../controllers/runtime/kubeconfig.js';
import { Cluster, eventually, withTimeout } from './harness.js';
import { virtualMachine } from './manifests.js';

const rounds = 200;
const floodBytes = 64 * 1024 * 1024;
/** Longer by hand: ten minutes are what proxies on the way tend to give a silent connection. */
const idleSeconds = Number(process.env['CONSOLE_IDLE_SECONDS'] ?? '21');

const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;

function stream(
  connection: ConnectionOptions,
  name: string,
  query = {},
  machine = 'demo',
): Promise<WebSocket> {
  const request = { namespace: 'default', resource: 'virtualmachineinstances', name: machine } as const;
  const search = new URLSearchParams(query);
  return openStream(connection, { ...request, stream: name, query: search }, new AbortController().signal);
}

test('VNC, consoles and ports, opened and closed in every way 200 times, leave nothing behind', async (t) => {
  const cluster = await Cluster.start(t, { fakeQemu: true });
  await cluster.create(virtualMachine({ name: 'demo' }));
  await cluster.wait('vmi/demo', 'jsonpath={.status.phase}=Running');
  const connection = await loadKubeconfig(cluster.kubeconfig);
  const streams = [
    ['console', { mode: 'force' }],
    ['vnc', {}],
    ['portforward/22', {}],
    ['console', { mode: 'read' }],
  ] as const;
  const openAndClose = async (round: number): Promise<void> => {
    const [name, query] = streams[round % streams.length] ?? streams[0];
    const socket = await stream(connection, name, query);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume();
    if (round % 3 === 0) socket.terminate();
    else socket.close(1000);
    await closed;
  };
  const [launcher = 0] = cluster.processes('launcher');
  const [qemu = 0] = cluster.processes('qemu');
  assert.ok(launcher > 0 && qemu > 0);
  const processes = { server: cluster.pid, launcher, qemu };
  const open = (): Record<string, number> =>
    Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, descriptors(pid)]));
  for (let round = 0; round < streams.length * 3; round++) await openAndClose(round);
  // What the server keeps for good, such as the client's kept connections, is there by now.
  let before = open();
  await eventually('the processes are at rest', () => {
    const now = open();
    const atRest = JSON.stringify(now) === JSON.stringify(before);
    before = now;
    return atRest;
  });
  for (let round = 0; round < rounds; round++) await openAndClose(round);
  await eventually(
    `as many descriptors as before: ${JSON.stringify(before)}`,
    () => Object.entries(open()).every(([name, count]) => count <= (before[name] ?? 0)),
    60,
  );
  assert.equal(cluster.processes('launcher').length + cluster.processes('qemu').length, 2);
});

test('consoles of guests that talk without pause, and of silent ones', { concurrency: true }, async (t) => {
  const cluster = await Cluster.start(t, { fakeQemu: true });
  for (const name of ['demo', 'silent']) {
    await cluster.create(virtualMachine({ name }));
    await cluster.wait(`vmi/${name}`, 'jsonpath={.status.phase}=Running');
  }
  const connection = await loadKubeconfig(cluster.kubeconfig);
  await Promise.all([
    t.test('nothing is lost', (t) => flood(t, connection)),
    t.test(`an answer after ${idleSeconds} s of silence`, () => silence(connection)),
  ]);
});

async function silence(connection: ConnectionOptions): Promise<void> {
  const socket = await stream(connection, 'console', {}, 'silent');
  let said = '';
  const answered = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      said += bytesOf(data).toString();
      if (said.includes('fake-guest:')) resolve();
    });
  });
  const ended = once(socket, 'close').then(([code]) => {
    throw new Error(`closed with ${String(code)} after ${said}`);
  });
  socket.resume();
  await Promise.race([ended, delay(idleSeconds * 1000)]);
  assert.doesNotMatch(said, /fake-guest:/);
  socket.send('hello\n');
  await withTimeout(Promise.race([ended, answered]), 60_000, () => `no answer, only ${said}`);
  ended.catch(() => undefined);
  socket.terminate();
}

async function flood(t: TestContext, connection: ConnectionOptions): Promise<void> {
  const socket = await stream(connection, 'console', { mode: 'write' });
  const hash = createHash('sha256');
  let received = 0;
  let started = 0;
  const marker = Buffer.from('FLOOD\n');
  const all = new Promise<void>((resolve, reject) => {
    let before: Buffer | undefined = Buffer.alloc(0);
    socket.on('message', (data) => {
      let chunk = bytesOf(data);
      if (before !== undefined) {
        before = Buffer.concat([before, chunk]);
        const at = before.indexOf(marker);
        if (at < 0) return;
        chunk = before.subarray(at + marker.length);
        before = undefined;
        started = performance.now();
      }
      hash.update(chunk);
      received += chunk.length;
      if (received >= floodBytes) resolve();
    });
    socket.once('close', (code, reason) => {
      reject(new Error(`closed with ${code} ${reason.toString()} after ${received} bytes`));
    });
  });
  socket.resume();
  socket.send(`flood ${floodBytes}\n`);
  await withTimeout(all, 180_000, () => `only ${received} bytes came`);
  const rate = received / 1e6 / ((performance.now() - started) / 1000);
  t.diagnostic(`${received} bytes at ${rate.toFixed(1)} MB/s`);
  const wanted = createHash('sha256');
  const block = floodBlock();
  for (let sent = 0; sent < floodBytes; sent += block.length) wanted.update(block);
  assert.equal(received, floodBytes);
  assert.equal(hash.digest('hex'), wanted.digest('hex'));
  socket.terminate();
}

/** As fake-qemu sends it, again and again. */
function floodBlock(): Buffer {
  return Buffer.from(Array.from({ length: 65536 }, (_, index) => (index * 31 + (index >> 8)) & 0xff));
}
