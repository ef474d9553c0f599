/** An API server with machines, and a node agent that tells how it was called. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { TestContext } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import type { CertificateAuthority } from '../../apiserver/pki/authority.js';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { nodeAgentAddressAnnotation, nodeAgentServerName } from '../../openapi/node-agent.js';
import { startNativeServer, type NativeServer } from './native-server.js';
import { requestOf, type Answer, type RequestOptions } from './test-server.js';

export const kubevirt = '/apis/kubevirt.io/v1/namespaces/default';
export const alias = '/apis/subresources.kubevirt.io/v1/namespaces/default';

export interface Fixture extends NativeServer {
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  /** Creates through the API, as the administrator. */
  create(path: string, object: unknown): Promise<Answer>;
}

export async function startServer(t: TestContext): Promise<Fixture> {
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

/** Answers its UID. */
export async function createVm(server: Fixture, name: string, runStrategy: string): Promise<string> {
  const answer = await server.create(`${kubevirt}/virtualmachines`, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name },
    spec: { runStrategy, template: { spec } },
  });
  assert.equal(answer.status, 201, answer.text);
  return (answer.json()['metadata'] as { uid: string }).uid;
}

/** A VMI as a node agent would report it; of a VM if its UID is given. */
export async function createVmi(
  server: Fixture,
  name: string,
  phase: string,
  nodeName: string,
  { vm, conditions = [] }: { vm?: string; conditions?: readonly string[] } = {},
): Promise<string> {
  const path = `${kubevirt}/virtualmachineinstances`;
  const created = await server.create(path, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name,
      ...(vm === undefined
        ? {}
        : { ownerReferences: [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name, uid: vm }] }),
    },
    spec,
  });
  assert.equal(created.status, 201, created.text);
  const answer = await server.request('PATCH', `${path}/${name}/status`, {
    token: 'admin',
    body: JSON.stringify({
      status: { phase, nodeName, conditions: conditions.map((type) => ({ type, status: 'True' })) },
    }),
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  assert.equal(answer.status, 200, answer.text);
  return (answer.json()['metadata'] as { uid: string }).uid;
}

export const vmOf = (server: Fixture, name: string): Promise<VirtualMachine | undefined> =>
  server.registry.get<VirtualMachine>({
    group: 'kubevirt.io',
    resource: 'virtualmachines',
    namespace: 'default',
    name,
  });

export interface AgentAnswer {
  readonly code: number;
  readonly type: string;
  readonly body: string;
}

export interface TestAgent {
  readonly port: number;
  readonly calls: string[];
  readonly sockets: WebSocket[];
  /** What calls are answered with, by their subject; the others are done. */
  readonly answers: Map<string, AgentAnswer>;
}

/** A node agent whose streams echo, and that tells who called with which query. */
export async function startAgent(
  t: TestContext,
  authority: CertificateAuthority,
  node: string,
): Promise<TestAgent> {
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
  server.on('request', (request, response) => {
    calls.push(`${request.method ?? ''} ${request.url ?? ''}`);
    const { pathname } = new URL(request.url ?? '/', 'http://agent');
    const subject = pathname.slice(pathname.lastIndexOf('/') + 1);
    const { code, type, body } = answers.get(subject) ?? { code: 204, type: '', body: '' };
    response.writeHead(code, { 'content-type': type }).end(body);
  });
  const websockets = new WebSocketServer({ noServer: true });
  const calls: string[] = [];
  const answers = new Map<string, AgentAnswer>();
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
  return { port: address.port, calls, sockets, answers };
}

export async function withConsole(t: TestContext): Promise<{
  server: Fixture;
  agent: TestAgent;
  readonly dial: (path: string, token?: string, protocols?: string[]) => WebSocket;
}> {
  const server = await startServer(t);
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
export async function refusal(socket: WebSocket): Promise<{ code: number | undefined; message: string }> {
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(response, 'end');
  const status = JSON.parse(Buffer.concat(chunks).toString()) as { message: string };
  return { code: response.statusCode, message: status.message };
}
