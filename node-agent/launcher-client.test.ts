import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { systemClock } from '../controllers/runtime/clock.js';
import { launcherErrorCodes, type DomainStatus } from '../openapi/launcher/protocol.js';
import { LauncherClient, LauncherError, openConsole } from './launcher-client.js';
import { LauncherConnectionError } from './unix-socket.js';
import { domainStatus } from './testing/domain-status.js';

type Answer = (message: { id: number; method: string; params: unknown }, socket: Socket) => void;

async function serve(t: TestContext, answer: Answer, directoryName = 'pod') {
  const root = await mkdtemp(join(tmpdir(), 'nativirt-client-'));
  const directory = join(root, directoryName);
  await mkdir(directory, { recursive: true });
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      for (const line of chunk
        .toString()
        .split('\n')
        .filter((text) => text.startsWith('{'))) {
        answer(JSON.parse(line) as Parameters<Answer>[0], socket);
      }
    });
  });
  // Bound by a relative name, as a launcher does: the absolute one may be too long.
  const before = process.cwd();
  process.chdir(directory);
  try {
    await new Promise<void>((resolve) => server.listen('launcher.sock', resolve));
  } finally {
    process.chdir(before);
  }
  t.after(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    await rm(root, { recursive: true, force: true });
  });
  return { path: join(directory, 'launcher.sock'), sockets };
}

const reply = (socket: Socket, body: object): void => {
  socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...body })}\n`);
};

async function connect(t: TestContext, path: string, timeoutMilliseconds?: number): Promise<LauncherClient> {
  const options = timeoutMilliseconds === undefined ? {} : { timeoutMilliseconds };
  const client = await LauncherClient.connect(path, { clock: systemClock, ...options });
  t.after(() => {
    client.close();
  });
  return client;
}

test('answers find their calls, whatever their order', async (t) => {
  const waiting: number[] = [];
  const { path } = await serve(t, ({ id, method }, socket) => {
    waiting.push(id);
    if (waiting.length < 2) return;
    for (const each of waiting.reverse())
      reply(socket, { id: each, result: domainStatus({ sequence: each, reason: method }) });
  });
  const client = await connect(t, path);
  const [first, second] = await Promise.all([
    client.call('status', undefined),
    client.call('pause', undefined),
  ]);
  assert.deepEqual([first.sequence, second.sequence], [1, 2]);
});

test('errors carry the code; the end of the connection ends every call', async (t) => {
  const { path } = await serve(t, ({ id, method }, socket) => {
    if (method === 'reset') socket.destroy();
    else reply(socket, { id, error: { code: launcherErrorCodes.invalidState, message: 'no QEMU to pause' } });
  });
  const client = await connect(t, path);
  await assert.rejects(client.call('pause', undefined), (error) => {
    assert.ok(error instanceof LauncherError);
    assert.equal(error.code, launcherErrorCodes.invalidState);
    assert.equal(error.message, 'no QEMU to pause');
    return true;
  });
  await assert.rejects(client.call('reset', undefined), LauncherConnectionError);
  await client.closed;
  await assert.rejects(client.call('status', undefined), LauncherConnectionError);
  await assert.rejects(
    LauncherClient.connect(`${path}.none`, { clock: systemClock }),
    LauncherConnectionError,
  );
});

test('a launcher that does not answer, and one that is not waited for', async (t) => {
  const { path } = await serve(t, () => undefined);
  const client = await connect(t, path, 20);
  await assert.rejects(client.call('status', undefined), /did not answer status within 0.02 s/);
  const controller = new AbortController();
  const call = client.call('status', undefined, controller.signal);
  controller.abort();
  await assert.rejects(call, { name: 'AbortError' });
});

test('notifications arrive in order, also when split or joined anywhere', async (t) => {
  const { path } = await serve(t, ({ id }, socket) => {
    const lines = [
      { id, result: domainStatus({ sequence: 1 }) },
      { method: 'statusChanged', params: domainStatus({ sequence: 2, message: 'ä€😀' }) },
      { method: 'statusChanged', params: domainStatus({ sequence: 3 }) },
    ];
    const bytes = Buffer.from(
      lines.map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`).join(''),
    );
    const send = (at: number): void => {
      if (at < bytes.length) socket.write(bytes.subarray(at, at + 37), () => setImmediate(send, at + 37));
    };
    send(0);
  });
  const client = await connect(t, path);
  const seen: DomainStatus[] = [];
  const complete = new Promise<void>((resolve, reject) => {
    client
      .subscribe((status) => {
        seen.push(status);
        if (status.sequence === 3) resolve();
      })
      .then((status) => assert.equal(status.sequence, 1))
      .catch(reject);
  });
  await complete;
  assert.deepEqual(
    seen.map(({ sequence }) => sequence),
    [2, 3],
  );
  assert.equal(seen[0]?.message, 'ä€😀');
});

test('nonsense from the launcher ends the connection', async (t) => {
  const { path } = await serve(t, (_, socket) => socket.write('nonsense\n'));
  const client = await connect(t, path);
  await assert.rejects(client.call('status', undefined), /the launcher sent/);
  await client.closed;
});

test('the console is raw from the first byte after the answer', async (t) => {
  const { path } = await serve(t, ({ id, params }, socket) => {
    if ((params as { mode: string }).mode === 'write') {
      reply(socket, { id, error: { code: launcherErrorCodes.consoleBusy, message: 'anna writes already' } });
      return;
    }
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: { writer: false } })}\nlogin: `);
    socket.removeAllListeners('data');
    socket.on('data', (chunk) => socket.end(`echo ${chunk.toString()}`));
  });
  const { signal } = new AbortController();
  await assert.rejects(openConsole(path, 'write', signal), {
    name: 'LauncherError',
    message: 'anna writes already',
  });
  const { socket, writer } = await openConsole(path, 'read', signal);
  assert.equal(writer, false);
  socket.write('root');
  let text = '';
  for await (const chunk of socket as AsyncIterable<Buffer>) text += chunk.toString();
  assert.equal(text, 'login: echo root');
});

test('a path longer than a unix socket address works', async (t) => {
  const { path } = await serve(
    t,
    ({ id }, socket) => reply(socket, { id, result: domainStatus({}) }),
    'x'.repeat(150),
  );
  const client = await connect(t, path);
  assert.equal((await client.call('status', undefined)).state, 'Waiting');
});
