import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { WebSocket } from 'ws';
import { ensureCa } from '../../apiserver/pki/authority.js';
import { FakeClock } from '../../controllers/runtime/testing/fake-clock.js';
import { apiserverUser } from '../../openapi/node-agent.js';
import { closed, received, refusal, setUpStreams, until, type Console } from '../testing/streams.js';

test('a console: bytes both ways from the first one on, and an end from either side', async (t) => {
  const { open, sockets, streams } = await setUpStreams(t, ensureCa);
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
  const { open } = await setUpStreams(t, ensureCa);
  const socket = open({}, 'vnc');
  await received(socket, 'RFB 003.008\n');
  socket.send('RFB 003.008\n');
  await received(socket, 'RFB 003.008\n');
  socket.terminate();
});

test('refusals are Status objects that say why', async (t) => {
  const { open, port, tls, apiserver } = await setUpStreams(t, ensureCa);
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
    /mode must be one of write, read, force, history/,
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
  assert.equal(plain, 404);
});

test('only the API server is let in', async (t) => {
  const { authority, open, tls, port } = await setUpStreams(t, ensureCa);
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
  const { open } = await setUpStreams(t, ensureCa, { console: flood });
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
  const { open, sockets } = await setUpStreams(t, ensureCa, { clock });
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
  const { open, sockets, streams } = await setUpStreams(t, ensureCa);
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
  const { open, streams, sockets } = await setUpStreams(t, ensureCa);
  const socket = open();
  await received(socket, 'login: ');
  const code = closed(socket);
  await streams.close();
  assert.equal(await code, 1001);
  await until(() => sockets.size === 0);
});

test('a display has one session: a newcomer takes over, or is refused if it asks to be', async (t) => {
  const { open } = await setUpStreams(t, ensureCa);
  const first = open({}, 'vnc');
  await received(first, 'RFB 003.008\n');
  const polite = await refusal(open({ preserveSession: 'true' }, 'vnc'));
  assert.deepEqual([polite.code, polite.message], [409, 'another session has this display']);
  const told = new Promise<string>((resolve) => {
    first.on('close', (code, reason) => {
      resolve(`${code} ${reason.toString()}`);
    });
  });
  const second = open({}, 'vnc');
  await received(second, 'RFB 003.008\n');
  assert.equal(await told, '1008 another session has taken over');
  second.close();
  await closed(second);
  const third = open({ preserveSession: 'true' }, 'vnc');
  await received(third, 'RFB 003.008\n');
  third.terminate();
});

test('ports: bytes over TCP, one datagram a message over UDP', async (t) => {
  const { open } = await setUpStreams(t, ensureCa);
  const tcp = open({ port: '22' }, 'portforward');
  await new Promise((resolve) => tcp.once('open', resolve));
  tcp.send('SSH-');
  tcp.send('2.0');
  await received(tcp, 'SSH-2.0');
  tcp.terminate();
  const udp = open({ port: '53', protocol: 'udp' }, 'portforward');
  await new Promise((resolve) => udp.once('open', resolve));
  const sent = ['a', '', 'x'.repeat(60_000), 'last'];
  const datagrams: string[] = [];
  const all = new Promise<void>((resolve) => {
    udp.on('message', (data: Buffer) => {
      datagrams.push(data.toString());
      if (datagrams.length === sent.length) resolve();
    });
  });
  for (const datagram of sent) udp.send(datagram);
  await all;
  assert.deepEqual(datagrams, sent);
  udp.terminate();
  const wrong: Record<string, string>[] = [
    {},
    { port: '0' },
    { port: '65536' },
    { port: '22', protocol: 'sctp' },
  ];
  for (const query of wrong) {
    assert.equal((await refusal(open(query, 'portforward'))).code, 400);
  }
});

test('a VMI without the device has no such stream', async (t) => {
  const { open } = await setUpStreams(t, ensureCa);
  assert.equal((await refusal(open({}, 'usbredir'))).code, 409);
  assert.equal((await refusal(open({ port: '1' }, 'vsock'))).code, 409);
});
