/** With a socat that leads to a local port: neither the tests' machine nor its kernel need have vsock. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { ensureCa } from '../../apiserver/pki/authority.js';
import { connectVsock } from './vsock.js';

const socat = `#!${process.execPath}
const target = process.argv.at(-1);
if (target.startsWith('VSOCK-CONNECT:3:99,')) {
  console.error('2026/01/01 00:00:00 socat[1] E connect(5, AF=40 cid:3 port:99, 16): Connection reset by peer');
  process.exit(1);
}
const socket = require('node:net').connect(Number(process.env.TEST_VSOCK_PORT), '127.0.0.1', () => {
  console.error('2026/01/01 00:00:00 socat[1] N starting data transfer loop with FDs [0,1] and [5,5]');
  process.stdin.pipe(socket).pipe(process.stdout);
});
`;

async function setUp(t: TestContext, server: Server): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-vsock-'));
  const program = join(directory, 'socat');
  await writeFile(program, socat);
  await chmod(program, 0o755);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { PATH: before } = process.env;
  process.env['PATH'] = `${directory}:${before ?? ''}`;
  // Listening on TCP.
  process.env['TEST_VSOCK_PORT'] = String((server.address() as AddressInfo).port);
  t.after(async () => {
    process.env['PATH'] = before;
    server.close();
    await rm(directory, { recursive: true });
  });
  return directory;
}

const { signal } = new AbortController();

test('bytes both ways, and a refusal with the reason', async (t) => {
  await setUp(
    t,
    createServer((socket) => socket.pipe(socket)),
  );
  const stream = await connectVsock({ cid: 3, port: 1024, credentials: undefined }, signal);
  stream.write('hello');
  const [echo] = (await once(stream, 'data')) as [Buffer];
  assert.equal(echo.toString(), 'hello');
  const closed = once(stream, 'close');
  stream.destroy();
  await closed;
  await assert.rejects(connectVsock({ cid: 3, port: 99, credentials: undefined }, signal), {
    name: 'Refusal',
    message: /vsock port 99 of context 3: .*Connection reset by peer/,
  });
});

test('a guest that asks for TLS gets to see who its host is', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-vsock-ca-'));
  t.after(() => rm(directory, { recursive: true }));
  const authority = await ensureCa(directory);
  const issue = (commonName: string, usage: 'client' | 'server') =>
    authority.issue({ commonName, usages: [usage], days: 1 });
  const guest = createTlsServer(
    { ...issue('guest', 'server'), ca: authority.cert, requestCert: true },
    (socket) => {
      socket.end(String(socket.getPeerX509Certificate()?.subject));
    },
  );
  await setUp(t, guest);
  const stream = await connectVsock({ cid: 3, port: 1, credentials: issue('node-1', 'client') }, signal);
  const [subject] = (await once(stream, 'data')) as [Buffer];
  assert.match(subject.toString(), /CN=node-1/);
  stream.destroy();
});
