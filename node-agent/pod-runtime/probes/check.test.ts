import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { ensureCa } from '../../../apiserver/pki/authority.js';
import type { Container, Probe } from '../../../openapi/generated/types/core_v1.js';
import { check, type ProbeTarget } from './check.js';

/** A guest whose ports are those of this machine, and whose commands are their exit status. */
const guest: ProbeTarget = {
  async connect(port, host, signal) {
    const socket = connect({ port, host: host ?? '127.0.0.1' });
    await once(socket, 'connect', { signal });
    return socket;
  },
  execute: ([status = '']) =>
    status === '0' ? Promise.resolve() : Promise.reject(new Error(`status ${status}`)),
};

async function serve(t: TestContext, secure = false): Promise<{ port: number; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const answer: Parameters<typeof createServer>[1] = (request, response) => {
    seen.push(request);
    response.writeHead(Number(request.url?.slice(1)), { location: '/elsewhere' }).end();
  };
  const directory = mkdtempSync(path.join(tmpdir(), 'nativirt-probe-'));
  const authority = await ensureCa(path.join(directory, 'pki'));
  const pair = authority.issue({ commonName: 'guest', dnsNames: ['guest'], usages: ['server'], days: 1 });
  const server = secure ? createSecureServer(pair, answer) : createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    rmSync(directory, { recursive: true });
  });
  return { port: (server.address() as AddressInfo).port, seen };
}

const container = (port: number): Container => ({
  name: 'compute',
  image: 'launcher',
  ports: [{ name: 'web', containerPort: port }],
});

test('HTTP and HTTPS: 200 to 399 is success, with the headers and the port that the probe names', async (t) => {
  for (const scheme of ['HTTP', 'HTTPS'] as const) {
    const { port, seen } = await serve(t, scheme === 'HTTPS');
    const probe = (status: number): Probe => ({
      httpGet: {
        scheme,
        port: 'web',
        path: `/${status}`,
        httpHeaders: [
          { name: 'Host', value: 'shop.example' },
          { name: 'X-Probe', value: 'a' },
        ],
      },
    });
    const { signal } = new AbortController();
    for (const status of [200, 204, 302]) await check(probe(status), container(port), guest, signal);
    for (const status of [404, 500]) {
      await assert.rejects(
        check(probe(status), container(port), guest, signal),
        new RegExp(`statuscode: ${status}`),
      );
    }
    assert.equal(seen.length, 5);
    assert.equal(seen[0]?.headers.host, 'shop.example');
    assert.equal(seen[0].headers['x-probe'], 'a');
    assert.match(seen[0].headers['user-agent'] ?? '', /^kube-probe\//);
  }
});

test('TCP, commands, and what is asked for that is not there', async (t) => {
  const { port } = await serve(t);
  const { signal } = new AbortController();
  const one = (probe: Probe): Promise<void> => check(probe, container(port), guest, signal);
  await one({ tcpSocket: { port } });
  await one({ tcpSocket: { port: 'web', host: '127.0.0.1' } });
  await assert.rejects(one({ tcpSocket: { port: 1 } }), /ECONNREFUSED/);
  await assert.rejects(one({ tcpSocket: { port: 'ssh' } }), /no port "ssh"/);
  await one({ exec: { command: ['0'] } });
  await assert.rejects(one({ exec: { command: ['3'] } }), /status 3/);
  await assert.rejects(one({ grpc: { port } }), /exec, httpGet and tcpSocket only/);
});
