import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { ensureCa } from '../../apiserver/pki/authority.js';
import { systemClock } from '../../controllers/runtime/clock.js';
import { SharedInformer } from '../../controllers/runtime/informer.js';
import { virtualMachineInstances } from '../../controllers/runtime/kinds.js';
import { FakeClient } from '../../controllers/runtime/testing/fake-client.js';
import { FakeClock } from '../../controllers/runtime/testing/fake-clock.js';
import { SilentLogger } from '../../controllers/runtime/testing/silent-logger.js';
import { launcherErrorCodes } from '../../openapi/launcher/protocol.js';
import type { Status } from '../../openapi/meta.js';
import { apiserverUser, nodeAgentServerName, nodeAgentPath } from '../../openapi/node-agent.js';
import { PodDirectories } from '../pod-directory.js';
import { namespace, newVmi, nodeName } from '../testing/objects.js';
import { StreamServer } from './stream-server.js';

type Console = (socket: Socket, mode: string) => void;

/** A control socket that knows consoles only, and a VNC server that echoes. */
async function launcher(t: TestContext, directory: string, console: Console): Promise<Set<Socket>> {
  const sockets = new Set<Socket>();
  const serve = async (path: string, handle: (socket: Socket) => void): Promise<void> => {
    const server: Server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
      handle(socket);
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    t.after(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
  };
  await mkdir(join(directory, 'qemu'), { recursive: true });
  await serve(join(directory, 'launcher.sock'), (socket) => {
    socket.once('data', (chunk) => {
      const message = JSON.parse(chunk.toString()) as { id: number; params: { mode: string } };
      const { mode } = message.params;
      if (mode === 'write' && sockets.size > 1) {
        const error = {
          code: launcherErrorCodes.consoleBusy,
          message: 'somebody writes to the console already',
        };
        socket.end(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, error })}\n`);
        return;
      }
      socket.write(
        `${JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { writer: mode !== 'read' } })}\n`,
      );
      console(socket, mode);
    });
  });
  await serve(join(directory, 'qemu', 'vnc.sock'), (socket) => {
    socket.write('RFB 003.008\n');
    socket.pipe(socket);
  });
  return sockets;
}

const echo: Console = (socket) => {
  socket.write('login: ');
  socket.pipe(socket);
};

async function setUp(t: TestContext, { console = echo, clock = systemClock } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-streams-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const authority = await ensureCa(join(directory, 'pki'));
  const client = new FakeClient();
  const created = await client.create(virtualMachineInstances, newVmi('vm'));
  const vmi = client.put(virtualMachineInstances, { namespace, name: 'vm' }, (object) => ({
    ...object,
    status: { phase: 'Running', nodeName, activePods: { 'pod-uid': nodeName } },
  }));
  const logger = new SilentLogger();
  const informer = new SharedInformer({ client, kind: virtualMachineInstances, logger });
  const stop = new AbortController();
  const running = informer.run(stop.signal);
  await informer.synced(stop.signal);
  const directories = new PodDirectories(join(directory, 'p'));
  const sockets = await launcher(t, directories.of('pod-uid').path, console);
  const days = 1;
  const server = authority.issue({
    commonName: 'node',
    dnsNames: [nodeAgentServerName(nodeName)],
    usages: ['server'],
    days,
  });
  const streams = new StreamServer({
    credentials: () => ({ ca: authority.cert, ...server }),
    host: '127.0.0.1',
    port: 0,
    clock,
    logger,
    nodeName,
    informer,
    directories,
  });
  const port = await streams.listen();
  t.after(async () => {
    await streams.close();
    stop.abort();
    await running;
  });
  const apiserver = authority.issue({ commonName: apiserverUser, usages: ['client'], days });
  const tls = { ca: authority.cert, servername: nodeAgentServerName(nodeName) };
  const open = (
    query: Record<string, string> = {},
    stream: 'console' | 'vnc' = 'console',
    identity: object = apiserver,
  ) => {
    const search = new URLSearchParams({ uid: vmi.metadata.uid, ...query }).toString();
    const path = nodeAgentPath(namespace, 'vm', stream);
    return new WebSocket(`wss://127.0.0.1:${port}${path}?${search}`, { ...tls, ...identity });
  };
  return { authority, streams, port, open, tls, apiserver, sockets, logger, uid: created.metadata.uid };
}

/** Collects what comes until it ends with `end`. */
function received(socket: WebSocket, end: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('message', (data: Buffer, binary) => {
      assert.equal(binary, true);
      text += data.toString();
      if (text.endsWith(end)) resolve(text);
    });
    socket.on('close', () => {
      reject(new Error(`closed after "${text}"`));
    });
  });
}

function refusal(socket: WebSocket): Promise<Status> {
  return new Promise((resolve, reject) => {
    socket.on('error', () => undefined);
    socket.on('open', () => {
      reject(new Error('it was opened'));
    });
    socket.on('unexpected-response', (_request, response: IncomingMessage) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        const status = JSON.parse(text) as Status;
        assert.equal(status.code, response.statusCode);
        resolve(status);
      });
    });
  });
}

const closed = (socket: WebSocket): Promise<number> =>
  new Promise((resolve) => {
    socket.on('close', (code) => {
      resolve(code);
    });
  });

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};

test('a console: bytes both ways from the first one on, and an end from either side', async (t) => {
  const { open, sockets, streams } = await setUp(t);
  const first = open();
  assert.equal(await received(first, 'login: '), 'login: ');
  first.send('root');
  await received(first, 'root');
  first.close();
  await closed(first);
  await until(() => sockets.size === 0 && streams.size === 0);
  const second = open();
  await received(second, 'login: ');
  for (const socket of sockets) socket.end('bye');
  assert.equal(await closed(second), 1000);
  await until(() => streams.size === 0);
});

test('vnc goes to QEMU’s own socket', async (t) => {
  const { open } = await setUp(t);
  const socket = open({}, 'vnc');
  await received(socket, 'RFB 003.008\n');
  socket.send('RFB 003.008\n');
  await received(socket, 'RFB 003.008\n');
  socket.terminate();
});

test('refusals are Status objects that say why', async (t) => {
  const { open, port, tls, apiserver } = await setUp(t);
  const writer = open();
  await received(writer, 'login: ');
  const busy = await refusal(open());
  assert.equal(busy.reason, 'Conflict');
  assert.equal(busy.message, 'somebody writes to the console already');
  const reader = open({ mode: 'read' });
  await received(reader, 'login: ');
  assert.equal((await refusal(open({ uid: 'another' }))).code, 409);
  assert.match(
    (await refusal(open({ mode: 'odd' }))).message ?? '',
    /mode must be one of write, read, force/,
  );
  const ask = (path: string) =>
    refusal(new WebSocket(`wss://127.0.0.1:${port}${path}`, { ...tls, ...apiserver }));
  assert.equal((await ask('/v1/namespaces/x/virtualmachineinstances/vm/console?uid=1')).code, 404);
  assert.equal((await ask('/v1/namespaces/x/virtualmachineinstances/vm/console')).code, 400);
  assert.equal((await ask('/v1/namespaces/%zz/virtualmachineinstances/vm/console?uid=1')).code, 400);
  assert.equal((await ask('/elsewhere')).code, 404);
  const plain = await new Promise<number | undefined>((resolve, reject) => {
    request({ port, host: '127.0.0.1', path: '/', ...tls, ...apiserver }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
  assert.equal(plain, 400);
});

test('only the API server is let in', async (t) => {
  const { authority, open, tls, port } = await setUp(t);
  const issue = (commonName: string, usage: 'client' | 'server') =>
    authority.issue({ commonName, usages: [usage], days: 1 });
  assert.equal((await refusal(open({}, 'console', issue('admin', 'client')))).code, 403);
  const failure = (socket: WebSocket): Promise<Error> =>
    new Promise((resolve, reject) => {
      socket.on('error', resolve).on('open', () => {
        reject(new Error('it was opened'));
      });
    });
  await failure(open({}, 'console', { cert: undefined }));
  await failure(open({}, 'console', issue(apiserverUser, 'server')));
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-other-ca-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const stranger = (await ensureCa(directory)).issue({
    commonName: apiserverUser,
    usages: ['client'],
    days: 1,
  });
  await failure(open({}, 'console', stranger));
  // Without a certificate, also when the connection is made again with what the first one left.
  for (let count = 0; count < 2; count++) {
    const error = await new Promise<Error>((resolve, reject) => {
      request({ port, host: '127.0.0.1', path: '/', ...tls }, () => {
        reject(new Error('it was answered'));
      })
        .on('error', resolve)
        .end();
    });
    assert.match(error.message, /certificate required|socket hang up|ECONNRESET/);
  }
});

test('a slow reader slows the source down, and nothing is lost', async (t) => {
  const total = 32 * 1024 * 1024;
  let written = 0;
  const flood: Console = (socket) => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const more = (): void => {
      while (written < total) {
        written += chunk.length;
        if (!socket.write(chunk)) {
          socket.once('drain', more);
          return;
        }
      }
      socket.end();
    };
    more();
  };
  const { open } = await setUp(t, { console: flood });
  const socket = open();
  await new Promise((resolve) => socket.once('open', resolve));
  socket.pause();
  // Buffers on the way fill; then the source must stand still.
  let before = -1;
  while (before !== written) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.ok(written < total, `${written} bytes were taken while nobody read`);
  let size = 0;
  socket.on('message', (data: Buffer) => (size += data.length));
  socket.resume();
  await closed(socket);
  assert.equal(size, total);
});

test('pings every 20 s; a peer that answers none is given up', async (t) => {
  const clock = new FakeClock(Date.now());
  const { open, sockets } = await setUp(t, { clock });
  const socket = open({}, 'console');
  await received(socket, 'login: ');
  const pinged = new Promise((resolve) => socket.once('ping', resolve));
  await clock.advance(20_000);
  await pinged;
  const silent = open({ mode: 'read' });
  await received(silent, 'login: ');
  silent.pause();
  await clock.advance(20_000);
  await clock.advance(20_000);
  await until(() => sockets.size <= 1);
  silent.terminate();
  socket.terminate();
});

test('opened and closed many times, nothing is left', async (t) => {
  const { open, sockets, streams } = await setUp(t);
  for (let count = 0; count < 50; count++) {
    const socket = open({ mode: 'read' });
    await received(socket, 'login: ');
    if (count % 2 === 0) socket.terminate();
    else socket.close();
    await until(() => sockets.size === 0 && streams.size === 0);
  }
  const unfinished = open();
  unfinished.on('error', () => undefined);
  unfinished.terminate();
  await until(() => sockets.size === 0 && streams.size === 0);
});

test('closing ends open streams with a word', async (t) => {
  const { open, streams, sockets } = await setUp(t);
  const socket = open();
  await received(socket, 'login: ');
  const code = closed(socket);
  await streams.close();
  assert.equal(await code, 1001);
  await until(() => sockets.size === 0);
});
