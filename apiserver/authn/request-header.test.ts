import test from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import tls from 'node:tls';
import type { TestContext } from 'node:test';
import type { Handler } from '../request.js';
import { jsonReply } from '../http/status-reply.js';
import { ensureCa } from '../pki/authority.js';
import type { KeyPair } from '../pki/key-pair.js';
import { startTestServer, type TestServer } from '../../test/apiserver/test-server.js';
import { RequestHeaderAuthenticator } from './request-header.js';

const path = '/api/v1/configmaps';
const whoAmI: Handler = (context) => Promise.resolve(jsonReply(context.user));
const headers = { 'x-remote-user': 'jane', 'x-remote-group': ['b, c', 'ops'] };

interface Front {
  readonly server: TestServer;
  readonly authenticator: RequestHeaderAuthenticator;
  /** Issues certificates for proxies. */
  readonly proxy: (commonName: string) => KeyPair;
}

async function startFront(t: TestContext, now: () => number = Date.now): Promise<Front> {
  const authenticator = new RequestHeaderAuthenticator(now);
  const server = await startTestServer(t, {
    handle: whoAmI,
    authorizer: { authorize: () => ({ effect: 'allow', reason: '' }) },
    authenticators: [authenticator],
    now,
  });
  const authority = await ensureCa(join(server.directory, 'front-proxy'), { commonName: 'front-proxy-ca' });
  authenticator.configure({
    clientCa: authority.cert,
    allowedNames: ['front-proxy-client'],
    usernameHeaders: ['x-remote-user'],
    uidHeaders: ['x-remote-uid'],
    groupHeaders: ['x-remote-group'],
    extraHeaderPrefixes: ['x-remote-extra-'],
  });
  return {
    server,
    authenticator,
    proxy: (commonName) => authority.issue({ commonName, usages: ['client'], days: 1 }),
  };
}

test('a front proxy names the user, each header line a group, extras by their decoded keys', async (t) => {
  const { server, proxy } = await startFront(t);
  const answer = await server.request('GET', path, {
    cert: proxy('front-proxy-client'),
    headers: {
      ...headers,
      'x-remote-uid': '7',
      'x-remote-extra-authentication.kubernetes.io%2fcredential-id': 'X509SHA256=ab',
      'x-remote-extra-scopes': ['one', 'two'],
    },
  });
  assert.deepEqual(answer.json(), {
    name: 'jane',
    uid: '7',
    groups: ['b, c', 'ops', 'system:authenticated'],
    extra: {
      'authentication.kubernetes.io/credential-id': ['X509SHA256=ab'],
      scopes: ['one', 'two'],
    },
  });
});

test('headers of anybody else mean nothing', async (t) => {
  const { server, proxy } = await startFront(t);
  const name = async (options: object): Promise<unknown> =>
    (await server.request('GET', path, { headers, ...options })).json()['name'];
  assert.equal(await name({}), 'system:anonymous');
  assert.equal(await name({ token: 'bob' }), 'bob');
  const user = server.authority.issue({ commonName: 'front-proxy-client', usages: ['client'], days: 1 });
  assert.equal(await name({ cert: user }), 'front-proxy-client', 'issued by the authority of users');
  assert.equal(await name({ cert: proxy('some-other-proxy') }), 'system:anonymous', 'a name not allowed');
  assert.equal(
    (await server.request('GET', path, { cert: proxy('front-proxy-client') })).json()['name'],
    'system:anonymous',
    'a proxy that names nobody',
  );
});

test('a resumed TLS session without a certificate names nobody', async (t) => {
  const { server } = await startFront(t);
  const connect = async (session?: Buffer): Promise<tls.TLSSocket> => {
    const socket = tls.connect({
      port: server.port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca: server.ca,
      ...(session === undefined ? {} : { session }),
    });
    await once(socket, 'secureConnect');
    return socket;
  };
  const first = await connect();
  const [session] = (await once(first, 'session')) as [Buffer];
  first.destroy();
  const resumed = await connect(session);
  assert.equal(resumed.isSessionReused(), true);
  resumed.write(
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Remote-User: jane\r\nConnection: close\r\n\r\n`,
  );
  const chunks: Buffer[] = [];
  resumed.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(resumed, 'close');
  assert.match(Buffer.concat(chunks).toString(), /"name":"system:anonymous"/);
});

test('an outdated proxy certificate names nobody; a new authority counts at once', async (t) => {
  let now = Date.now();
  const { server, authenticator, proxy } = await startFront(t, () => now);
  const cert = proxy('front-proxy-client');
  now += 2 * 86_400_000;
  assert.equal((await server.request('GET', path, { cert, headers })).json()['name'], 'system:anonymous');
  now -= 2 * 86_400_000;
  const next = await ensureCa(join(server.directory, 'next'), { commonName: 'next-front-proxy-ca' });
  authenticator.configure({
    clientCa: next.cert,
    allowedNames: [],
    usernameHeaders: ['x-remote-user'],
    uidHeaders: [],
    groupHeaders: [],
    extraHeaderPrefixes: [],
  });
  assert.equal((await server.request('GET', path, { cert, headers })).json()['name'], 'system:anonymous');
  const fresh = next.issue({ commonName: 'anyone', usages: ['client'], days: 1 });
  assert.equal((await server.request('GET', path, { cert: fresh, headers })).json()['name'], 'jane');
});

test('until it is configured it believes nobody', () => {
  const authenticator = new RequestHeaderAuthenticator();
  assert.equal(authenticator.isConfigured, false);
});
