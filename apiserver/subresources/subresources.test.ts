/** Actions and streams through the whole server: who may, what is stored, and what is refused. */
import test, { type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { WebSocket, WebSocketServer } from 'ws';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { nodeAgentAddressAnnotation, nodeAgentServerName } from '../../openapi/node-agent.js';
import type { CertificateAuthority } from '../pki/authority.js';
import { startNativeServer, type NativeServer } from '../../test/apiserver/native-server.js';
import { requestOf, type Answer, type RequestOptions } from '../../test/apiserver/test-server.js';

const kubevirt = '/apis/kubevirt.io/v1/namespaces/default';
const alias = '/apis/subresources.kubevirt.io/v1/namespaces/default';

interface Fixture extends NativeServer {
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** Creates through the API, as the administrator. */
  create(path: string, object: unknown): Promise<Answer>;
}

async function start(t: TestContext): Promise<Fixture> {
  const server = await startNativeServer();
  t.after(() => server.close());
  const request = requestOf({ port: server.port, ca: server.authority.cert });
  return {
    ...server,
    request,
    create: (path, object) =>
      request('POST', path, {
        token: 'admin',
        body: JSON.stringify(object),
        headers: { 'content-type': 'application/json' },
      }),
  };
}

const spec = { domain: { devices: {}, memory: { guest: '128Mi' } } };

async function createVm(server: Fixture, name: string, runStrategy: string): Promise<void> {
  const answer = await server.create(`${kubevirt}/virtualmachines`, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name },
    spec: { runStrategy, template: { spec } },
  });
  assert.equal(answer.status, 201, answer.text);
}

/** A VMI as a node agent would report it. */
async function createVmi(server: Fixture, name: string, phase: string, nodeName: string): Promise<string> {
  const path = `${kubevirt}/virtualmachineinstances`;
  const created = await server.create(path, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name },
    spec,
  });
  assert.equal(created.status, 201, created.text);
  const answer = await server.request('PATCH', `${path}/${name}/status`, {
    token: 'admin',
    body: JSON.stringify({ status: { phase, nodeName } }),
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  assert.equal(answer.status, 200, answer.text);
  return (answer.json()['metadata'] as { uid: string }).uid;
}

const vmOf = (server: Fixture, name: string): Promise<VirtualMachine | undefined> =>
  server.registry.get<VirtualMachine>({
    group: 'kubevirt.io',
    resource: 'virtualmachines',
    namespace: 'default',
    name,
  });

test('start and stop of a halted VM change its run strategy, under both groups', async (t) => {
  const server = await start(t);
  await createVm(server, 'a', 'Halted');
  const started = await server.request('PUT', `${alias}/virtualmachines/a/start`, { token: 'admin' });
  assert.deepEqual([started.status, started.text], [202, '']);
  assert.equal((await vmOf(server, 'a'))?.spec.runStrategy, 'Always');
  const again = await server.request('PUT', `${kubevirt}/virtualmachines/a/start`, { token: 'admin' });
  assert.deepEqual(
    [again.status, again.json().reason, again.json().message],
    [
      409,
      'Conflict',
      'Operation cannot be fulfilled on virtualmachines.kubevirt.io "a": Always does not support manual start requests',
    ],
  );
  const stopped = await server.request('PUT', `${kubevirt}/virtualmachines/a/stop`, {
    token: 'admin',
    body: '{}',
  });
  assert.equal(stopped.status, 202);
  assert.equal((await vmOf(server, 'a'))?.spec.runStrategy, 'Halted');
});

test('a manual VM is asked by state change requests; a dry run asks nothing', async (t) => {
  const server = await start(t);
  await createVm(server, 'a', 'Manual');
  const body = JSON.stringify({ paused: true, dryRun: ['All'] });
  const headers = { 'content-type': 'application/json' };
  const path = `${alias}/virtualmachines/a/start`;
  assert.equal((await server.request('PUT', path, { token: 'admin', body, headers })).status, 202);
  assert.equal((await vmOf(server, 'a'))?.status?.stateChangeRequests, undefined);
  await server.request('PUT', path, { token: 'admin', body: '{"paused":true}', headers });
  assert.deepEqual((await vmOf(server, 'a'))?.status?.stateChangeRequests, [
    { action: 'Start', data: { paused: 'true' } },
  ]);
});

test('bad options, unknown machines and wrong methods are refused as Statuses', async (t) => {
  const server = await start(t);
  await createVm(server, 'a', 'Manual');
  const path = `${alias}/virtualmachines/a`;
  const json = { 'content-type': 'application/json' };
  const cases: readonly (readonly [string, string, string | undefined, Record<string, string>, number])[] = [
    ['PUT', `${path}/start`, '{"paused":"yes"}', json, 422],
    ['PUT', `${path}/start`, '{', json, 400],
    ['PUT', `${path}/start`, '[]', json, 400],
    ['PUT', `${path}/start`, '{}', { 'content-type': 'text/plain' }, 415],
    ['PUT', `${path}/start`, '{"kind":"StopOptions"}', json, 400],
    ['PUT', `${path}/start`, '{"dryRun":["Some"]}', json, 400],
    ['PUT', `${path}/restart`, '{"gracePeriodSeconds":5}', json, 400],
    ['PUT', `${path}/stop`, '{"gracePeriod":-1}', json, 400],
    ['GET', `${path}/start`, undefined, {}, 405],
    ['PUT', `${path}/nonsense`, undefined, {}, 404],
    ['PUT', `${alias}/virtualmachines/b/start`, undefined, {}, 404],
    ['GET', `${alias}/virtualmachines/a`, undefined, {}, 404],
    ['GET', `${path}/console`, undefined, {}, 400],
  ];
  for (const [method, target, body, headers, code] of cases) {
    const answer = await server.request(method, target, {
      token: 'admin',
      headers,
      ...(body === undefined ? {} : { body }),
    });
    assert.equal(answer.status, code, `${method} ${target} ${body ?? ''}: ${answer.text}`);
  }
});

test('the alias group has rules of its own', async (t) => {
  const server = await start(t);
  await createVm(server, 'a', 'Halted');
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  await server.create(`${rbac}/roles`, {
    apiVersion,
    kind: 'Role',
    metadata: { name: 'starter' },
    rules: [
      { apiGroups: ['subresources.kubevirt.io'], resources: ['virtualmachines/start'], verbs: ['update'] },
    ],
  });
  await server.create(`${rbac}/rolebindings`, {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name: 'starter' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'starter' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
  });
  const beside = await server.request('PUT', `${kubevirt}/virtualmachines/a/start`, { token: 'bob' });
  assert.equal(beside.status, 403);
  assert.equal(
    beside.json().message,
    'virtualmachines.kubevirt.io "a" is forbidden: User "bob" cannot update resource "virtualmachines/start" in API group "kubevirt.io" in the namespace "default"',
  );
  assert.equal(
    (await server.request('PUT', `${alias}/virtualmachines/a/start`, { token: 'bob' })).status,
    202,
  );
});

/** A node agent that echoes, and tells who called with which query. */
async function startAgent(
  t: TestContext,
  authority: CertificateAuthority,
  node: string,
): Promise<{ port: number; calls: string[]; sockets: WebSocket[] }> {
  const pair = authority.issue({
    commonName: node,
    dnsNames: [nodeAgentServerName(node)],
    usages: ['server'],
    days: 1,
  });
  const server = https.createServer({
    ...pair,
    ca: authority.cert,
    requestCert: true,
    rejectUnauthorized: true,
  });
  const websockets = new WebSocketServer({ noServer: true });
  const calls: string[] = [];
  const sockets: WebSocket[] = [];
  server.on('upgrade', (request, socket, head) => {
    calls.push(request.url ?? '');
    if (request.url?.includes('/busy/') === true) {
      const status = JSON.stringify({
        kind: 'Status',
        reason: 'Conflict',
        message: 'somebody writes already',
      });
      socket.end(`HTTP/1.1 409 Conflict\r\nContent-Length: ${status.length}\r\n\r\n${status}`);
      return;
    }
    websockets.handleUpgrade(request, socket, head, (client) => {
      sockets.push(client);
      client.send(Buffer.from('login: '));
      client.on('message', (data, isBinary) => {
        client.send(data, { binary: isBinary });
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    sockets.forEach((socket) => {
      socket.terminate();
    });
    server.close();
  });
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return { port: address.port, calls, sockets };
}

async function withConsole(t: TestContext): Promise<{
  server: Fixture;
  agent: Awaited<ReturnType<typeof startAgent>>;
  readonly dial: (path: string, token?: string, protocols?: string[]) => WebSocket;
}> {
  const server = await start(t);
  const agent = await startAgent(t, server.authority, 'n1');
  const node = await server.create('/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1', annotations: { [nodeAgentAddressAnnotation]: `127.0.0.1:${agent.port}` } },
  });
  assert.equal(node.status, 201, node.text);
  return {
    server,
    agent,
    dial: (path, token = 'admin', protocols = ['plain.kubevirt.io']) =>
      new WebSocket(`wss://127.0.0.1:${server.port}${path}`, protocols, {
        ca: server.authority.cert,
        headers: { authorization: `Bearer ${token}` },
      }),
  };
}

/** The Status with which an upgrade was refused. */
async function refusal(socket: WebSocket): Promise<{ code: number | undefined; message: string }> {
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(response, 'end');
  const status = JSON.parse(Buffer.concat(chunks).toString()) as { message: string };
  return { code: response.statusCode, message: status.message };
}

test('a console is relayed both ways, with everything that the guest said first', async (t) => {
  const { server, agent, dial } = await withConsole(t);
  const uid = await createVmi(server, 'a', 'Running', 'n1');
  for (const path of [
    `${alias}/virtualmachineinstances/a/console`,
    `${kubevirt}/virtualmachines/a/console?mode=read`,
  ]) {
    const socket = dial(path);
    const [first] = (await once(socket, 'message')) as [Buffer];
    assert.equal(socket.protocol, 'plain.kubevirt.io');
    assert.equal(first.toString(), 'login: ');
    socket.send('root\n');
    const [echo, isBinary] = (await once(socket, 'message')) as [Buffer, boolean];
    assert.deepEqual([echo.toString(), isBinary], ['root\n', true]);
    const agentClosed = once(agent.sockets.at(-1) ?? socket, 'close');
    socket.close(1000);
    await once(socket, 'close');
    assert.equal(((await agentClosed) as [number])[0], 1000);
  }
  const base = '/v1/namespaces/default/virtualmachineinstances/a/console';
  assert.deepEqual(agent.calls, [`${base}?uid=${uid}&mode=force`, `${base}?uid=${uid}&mode=read`]);
});

test('a megabyte each way survives back pressure', async (t) => {
  const { server, dial } = await withConsole(t);
  await createVmi(server, 'a', 'Running', 'n1');
  const socket = dial(`${alias}/virtualmachineinstances/a/console`, 'admin', []);
  await once(socket, 'message');
  assert.equal(socket.protocol, '');
  const sent = Buffer.from(Array.from({ length: 64 * 1024 }, (_, index) => index % 251));
  let received = 0;
  const all = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      assert.ok(data.equals(sent));
      received += data.length;
      if (received === 64 * sent.length) resolve();
    });
  });
  for (let count = 0; count < 64; count++) socket.send(sent);
  await all;
  socket.terminate();
});

test('when the agent goes away the client is told, and when the client breaks the agent is', async (t) => {
  const { server, agent, dial } = await withConsole(t);
  await createVmi(server, 'a', 'Running', 'n1');
  const path = `${alias}/virtualmachineinstances/a/console`;
  const first = dial(path);
  await once(first, 'message');
  agent.sockets[0]?.terminate();
  assert.equal(((await once(first, 'close')) as [number])[0], 1011);
  const second = dial(path);
  await once(second, 'message');
  const agentClosed = once(agent.sockets[1] ?? second, 'close');
  second.terminate();
  assert.equal(((await agentClosed) as [number])[0], 1011);
});

test('consoles end when the server stops', async (t) => {
  const { server, dial } = await withConsole(t);
  await createVmi(server, 'a', 'Running', 'n1');
  const socket = dial(`${alias}/virtualmachineinstances/a/console`);
  await once(socket, 'message');
  const closed = once(socket, 'close');
  await server.server.stop();
  assert.equal(((await closed) as [number])[0], 1001);
});

test('before the upgrade every refusal is a Status', async (t) => {
  const { server, dial } = await withConsole(t);
  await createVmi(server, 'pending', 'Scheduling', '');
  await createVmi(server, 'busy', 'Running', 'n1');
  await createVmi(server, 'lost', 'Running', 'n2');
  await createVm(server, 'halted', 'Halted');
  const vmi = (name: string): string => `${alias}/virtualmachineinstances/${name}/console`;
  assert.equal((await refusal(dial(vmi('nope')))).code, 404);
  assert.equal((await refusal(dial(vmi('pending')))).code, 409);
  assert.equal((await refusal(dial(`${alias}/virtualmachines/halted/console`))).code, 409);
  assert.deepEqual(await refusal(dial(vmi('busy'))), { code: 409, message: 'somebody writes already' });
  assert.equal((await refusal(dial(vmi('lost')))).code, 503);
  assert.equal((await refusal(dial(`${vmi('busy')}?mode=nonsense`))).code, 400);
  assert.equal((await refusal(dial(vmi('busy'), 'bob'))).code, 403);
  assert.equal((await refusal(dial(vmi('busy'), 'nobody'))).code, 401);
});
