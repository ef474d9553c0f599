/**
 * Stands in for the aggregator in kube-apiserver: knows users by their tokens, and passes requests on as a front proxy does. What
 * concerns the aggregated groups goes to the aggregated server with the user's name in headers; everything else goes to the core
 * server as it came.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { KeyPair } from '../../apiserver/pki/key-pair.js';
import type { UserInfo } from '../../apiserver/request.js';

export interface Upstream {
  readonly port: number;
  /** PEM: who issued its certificate. */
  readonly ca: string;
}

export interface FrontProxyOptions {
  readonly serving: KeyPair;
  readonly users: ReadonlyMap<string, UserInfo>;
  readonly core: Upstream;
  readonly aggregated: Upstream;
  /** What the proxy shows to the aggregated server. */
  readonly proxyClient: KeyPair;
}

export interface FrontProxy {
  readonly port: number;
  close(): Promise<void>;
}

/** kube-apiserver merges discovery and documents; here the aggregated server's stand for the whole. */
const isAggregated = (path: string): boolean =>
  !/^\/(api\/v1|apis\/[a-z.]+\.k8s\.io|apis\/apps)(\/|$|\?)/.test(path);

export async function startFrontProxy(options: FrontProxyOptions): Promise<FrontProxy> {
  const agents = {
    core: new https.Agent({ keepAlive: true, ca: options.core.ca }),
    aggregated: new https.Agent({ keepAlive: true, ca: options.aggregated.ca, ...options.proxyClient }),
  };
  const forward = (incoming: IncomingMessage): ReturnType<typeof https.request> => {
    const kind = isAggregated(incoming.url ?? '/') ? 'aggregated' : 'core';
    const outgoing = https.request({
      host: '127.0.0.1',
      servername: 'localhost',
      port: options[kind].port,
      agent: agents[kind],
      method: incoming.method,
      path: incoming.url,
      // Names and values in turn keep repeated headers apart.
      headers: kind === 'core' ? incoming.rawHeaders : proxiedHeaders(incoming, options.users),
    });
    incoming.pipe(outgoing);
    return outgoing;
  };
  const server = https.createServer({ ...options.serving }, (incoming, answer) => {
    const outgoing = forward(incoming);
    answer.once('close', () => outgoing.destroy());
    outgoing.once('error', () => answer.destroy());
    outgoing.once('response', (response) => {
      passOn(response, answer);
    });
  });
  server.on('upgrade', (incoming: IncomingMessage, socket: Duplex) => {
    const outgoing = forward(incoming);
    socket.on('error', () => outgoing.destroy());
    outgoing.once('error', () => socket.destroy());
    outgoing.once('response', (response) => {
      socket.write(head(response));
      response.pipe(socket);
    });
    outgoing.once('upgrade', (response, upstream, first) => {
      upstream.on('error', () => socket.destroy());
      socket.write(Buffer.concat([Buffer.from(head(response)), first]));
      upstream.pipe(socket).pipe(upstream);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // A listening TCP server has one of these.
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
      agents.core.destroy();
      agents.aggregated.destroy();
      await once(server, 'close');
    },
  };
}

/** The client's own credentials stay behind; its claims to be somebody else too. */
function proxiedHeaders(incoming: IncomingMessage, users: ReadonlyMap<string, UserInfo>): string[] {
  const headers: string[] = [];
  for (let index = 0; index < incoming.rawHeaders.length; index += 2) {
    const name = incoming.rawHeaders[index] ?? '';
    if (/^(authorization|x-remote-.*)$/i.test(name)) continue;
    headers.push(name, incoming.rawHeaders[index + 1] ?? '');
  }
  const token = /^Bearer (.+)$/.exec(incoming.headers.authorization ?? '')?.[1] ?? '';
  const user = users.get(token) ?? {
    name: 'system:anonymous',
    groups: ['system:unauthenticated'],
    extra: {},
  };
  headers.push('X-Remote-User', user.name);
  for (const group of user.groups) headers.push('X-Remote-Group', group);
  for (const [key, values] of Object.entries(user.extra))
    for (const value of values) headers.push(`X-Remote-Extra-${encodeURIComponent(key)}`, value);
  return headers;
}

function passOn(response: IncomingMessage, answer: ServerResponse): void {
  answer.writeHead(response.statusCode ?? 502, response.rawHeaders);
  // The head of a watch must not wait for its first event.
  answer.flushHeaders();
  response.pipe(answer);
  response.once('aborted', () => answer.destroy());
}

function head({ statusCode = 502, statusMessage = '', rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let index = 0; index < rawHeaders.length; index += 2)
    lines.push(`${rawHeaders[index] ?? ''}: ${rawHeaders[index + 1] ?? ''}`);
  return `${lines.join('\r\n')}\r\n\r\n`;
}
