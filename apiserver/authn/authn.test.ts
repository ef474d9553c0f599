import test from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import https from 'node:https';
import tls from 'node:tls';
import { join } from 'node:path';
import type { Handler } from '../request.js';
import { jsonReply } from '../http/status-reply.js';
import { ensureCa } from '../pki/authority.js';
import { startTestServer, type TestServer } from '../../test/apiserver/test-server.js';

/** Answers with who the server thinks is asking. */
const whoAmI: Handler = (context) => Promise.resolve(jsonReply(context.user));

/** Lets everybody in, so that only authentication is at work. */
const open = { handle: whoAmI, authorizer: { authorize: () => ({ effect: 'allow', reason: '' }) as const } };
const path = '/api/v1/configmaps';

test('a client certificate of our authority names user and groups', async (t) => {
  const server = await startTestServer(t, open);
  const cert = server.authority.issue({
    commonName: 'jane, "the" admin',
    organizations: ['b, c', 'ops'],
    usages: ['client'],
    days: 1,
  });
  const user = (await server.request('GET', path, { cert })).json();
  assert.equal(user['name'], 'jane, "the" admin');
  assert.deepEqual(user['groups'], ['b, c', 'ops', 'system:authenticated']);
});

test('certificates of another authority, for servers only, or past their time are no identity', async (t) => {
  let now = Date.now();
  const server = await startTestServer(t, { ...open, now: () => now });
  const stranger = await ensureCa(join(server.directory, 'stranger'), { commonName: 'nativirt-ca' });
  const request = { commonName: 'jane', usages: ['client'], days: 1 } as const;
  const foreign = await server.request('GET', path, { cert: stranger.issue(request) });
  assert.equal(foreign.json()['name'], 'system:anonymous');
  const forServers = server.authority.issue({ ...request, usages: ['server'] });
  assert.equal((await server.request('GET', path, { cert: forServers })).json()['name'], 'system:anonymous');
  now += 2 * 86_400_000;
  const expired = await server.request('GET', path, { cert: server.authority.issue(request) });
  assert.deepEqual([expired.status, expired.json().reason], [401, 'Unauthorized']);
});

test('an expired certificate ends the identity of a connection that is already open', async (t) => {
  let now = Date.now();
  const server = await startTestServer(t, { ...open, now: () => now });
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => {
    agent.destroy();
  });
  const cert = server.authority.issue({ commonName: 'jane', usages: ['client'], days: 1 });
  assert.equal((await server.request('GET', path, { cert, agent })).json()['name'], 'jane');
  now += 2 * 86_400_000;
  assert.equal((await server.request('GET', path, { cert, agent })).status, 401);
});

test('a resumed TLS session without a certificate is anonymous', async (t) => {
  const server = await startTestServer(t, open);
  const first = await connect(server);
  const [session] = (await once(first, 'session')) as [Buffer];
  first.destroy();
  const resumed = await connect(server, session);
  t.after(() => resumed.destroy());
  assert.equal(resumed.isSessionReused(), true);
  resumed.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  const chunks: Buffer[] = [];
  resumed.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(resumed, 'close');
  assert.match(Buffer.concat(chunks).toString(), /"name":"system:anonymous"/);
});

test('a resumed TLS session keeps the certificate that opened it', async (t) => {
  const server = await startTestServer(t, open);
  const cert = server.authority.issue({ commonName: 'jane', usages: ['client'], days: 1 });
  const first = await connect(server, undefined, cert);
  const [session] = (await once(first, 'session')) as [Buffer];
  first.destroy();
  const resumed = await connect(server, session, cert);
  assert.equal(resumed.isSessionReused(), true);
  resumed.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  const chunks: Buffer[] = [];
  resumed.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(resumed, 'close');
  assert.match(Buffer.concat(chunks).toString(), /"name":"jane"/);
});

async function connect(
  server: TestServer,
  session?: Buffer,
  pair?: { cert: string; key: string },
): Promise<tls.TLSSocket> {
  const socket = tls.connect({
    port: server.port,
    host: '127.0.0.1',
    servername: 'localhost',
    ca: server.ca,
    ...(session === undefined ? {} : { session }),
    ...pair,
  });
  await once(socket, 'secureConnect');
  return socket;
}

test('static tokens, in the header or as a subprotocol of a websocket', async (t) => {
  const server = await startTestServer(t, open);
  const bob = (await server.request('GET', path, { token: 'bob' })).json();
  assert.deepEqual(bob, {
    name: 'bob',
    uid: '2',
    groups: ['devs', 'ops', 'system:authenticated'],
    extra: {},
  });
  const protocol = `base64url.bearer.authorization.k8s.io.${Buffer.from('bob').toString('base64url')}`;
  const plain = await server.request('GET', path, { headers: { 'sec-websocket-protocol': protocol } });
  assert.equal(plain.json()['name'], 'system:anonymous');
  const upgrading = await server.request('GET', path, {
    headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': protocol },
  });
  assert.equal(upgrading.json()['name'], 'bob');
});

test('a token that nobody knows is Unauthorized, also where anonymous is allowed', async (t) => {
  const server = await startTestServer(t, open);
  const answer = await server.request('GET', path, { token: 'nope' });
  assert.deepEqual([answer.status, answer.json().message], [401, 'Unauthorized']);
});

test('without anonymous, a request without credentials is Unauthorized', async (t) => {
  const server = await startTestServer(t, { ...open, anonymous: false });
  assert.equal((await server.request('GET', path)).status, 401);
});

test('a new authority counts at once, and the old one no more, also on open connections', async (t) => {
  const server = await startTestServer(t, open);
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => {
    agent.destroy();
  });
  const cert = server.authority.issue({ commonName: 'jane', usages: ['client'], days: 1 });
  assert.equal((await server.request('GET', path, { cert, agent })).json()['name'], 'jane');
  const next = await ensureCa(join(server.directory, 'next'), { commonName: 'next' });
  const serving = next.issue({
    commonName: 's',
    dnsNames: ['localhost'],
    ips: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  server.server.setServingCertificate({ ...serving, clientCa: next.cert });
  assert.equal((await server.request('GET', path, { cert, agent })).json()['name'], 'system:anonymous');
  await assert.rejects(server.request('GET', path), /certificate/);
});

test('impersonation needs a right for each part', async (t) => {
  const asked: string[] = [];
  const server = await startTestServer(t, {
    handle: whoAmI,
    authorizer: {
      authorize: ({ verb, resource, subresource, name, namespace, group }) => {
        if (verb !== 'impersonate') return { effect: 'allow', reason: '' };
        asked.push([group, resource, subresource, namespace, name].join('|'));
        return { effect: name === 'forbidden' ? 'none' : 'allow', reason: '' };
      },
    },
  });
  const headers = {
    'impersonate-user': 'jane',
    'impersonate-group': ['b, c', 'ops'],
    'impersonate-uid': '7',
    'impersonate-extra-example.com%2fscope': ['one', 'two'],
  };
  const jane = (await server.request('GET', path, { token: 'bob', headers })).json();
  assert.deepEqual(jane, {
    name: 'jane',
    uid: '7',
    groups: ['b, c', 'ops', 'system:authenticated'],
    extra: { 'example.com/scope': ['one', 'two'] },
  });
  assert.deepEqual(asked, [
    '|users|||jane',
    '|groups|||b, c',
    '|groups|||ops',
    'authentication.k8s.io|uids|||7',
    'authentication.k8s.io|userextras|example.com/scope||one',
    'authentication.k8s.io|userextras|example.com/scope||two',
  ]);
  const refused = await server.request('GET', path, {
    token: 'bob',
    headers: { ...headers, 'impersonate-group': ['forbidden'] },
  });
  assert.deepEqual(
    [refused.status, refused.json().message],
    [
      403,
      'groups "forbidden" is forbidden: User "bob" cannot impersonate resource "groups" in API group "" at the cluster scope',
    ],
  );
});

test('a service account is impersonated as one, with its groups; parts without a user are refused', async (t) => {
  const server = await startTestServer(t, open);
  const account = await server.request('GET', path, {
    token: 'bob',
    headers: { 'impersonate-user': 'system:serviceaccount:ns:sa' },
  });
  assert.deepEqual(account.json()['groups'], [
    'system:serviceaccounts',
    'system:serviceaccounts:ns',
    'system:authenticated',
  ]);
  const anonymous = await server.request('GET', path, {
    token: 'bob',
    headers: { 'impersonate-user': 'system:anonymous' },
  });
  assert.deepEqual(anonymous.json()['groups'], ['system:unauthenticated']);
  const partial = await server.request('GET', path, {
    token: 'bob',
    headers: { 'impersonate-group': 'ops' },
  });
  assert.equal(partial.status, 400);
});
