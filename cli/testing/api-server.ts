/** An API server with just what the commands ask for, over plain HTTP: machines by name, actions, consoles. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { WebSocketServer, type WebSocket } from 'ws';

export interface Refusal {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
}

export interface FakeApiServer {
  readonly url: string;
  /** Objects by path below the namespace: `virtualmachines/demo`. */
  readonly objects: Map<string, unknown>;
  /** PUT requests as they came. */
  readonly actions: { readonly path: string; readonly body: unknown }[];
  /** Paths of DELETE requests. */
  readonly deletions: string[];
  /** What consoles were asked for, path and query. */
  readonly consoles: string[];
  /** If set, consoles are refused with it. */
  consoleRefusal: Refusal | undefined;
  /** The next console that opens. */
  nextConsole(): Promise<WebSocket>;
  close(): Promise<void>;
}

const root = '/apis/kubevirt.io/v1/namespaces/vms/';

function statusBody({ code, reason, message }: Refusal): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    code,
    reason,
    message,
  });
}

export async function startFakeApiServer(): Promise<FakeApiServer> {
  const objects = new Map<string, unknown>();
  const actions: { path: string; body: unknown }[] = [];
  const deletions: string[] = [];
  const consoles: string[] = [];
  const opened: WebSocket[] = [];
  const waiting: ((socket: WebSocket) => void)[] = [];

  const answer = (response: ServerResponse, code: number, body: string): void => {
    response.writeHead(code, { 'content-type': 'application/json' }).end(body);
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = new URL(request.url ?? '/', 'http://x').pathname.replace(root, '');
    if (request.method === 'PUT') {
      actions.push({ path, body: JSON.parse(await text(request)) });
      answer(response, 202, '');
      return;
    }
    if (request.method === 'DELETE') deletions.push(path);
    const object = objects.get(path);
    const [resource = '', name = ''] = path.split('/');
    if (object !== undefined) answer(response, 200, JSON.stringify(object));
    else {
      const message = `${resource}.kubevirt.io "${name}" not found`;
      answer(response, 404, statusBody({ code: 404, reason: 'NotFound', message }));
    }
  };
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  const sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => [...offered][0] ?? false,
  });
  server.on('upgrade', (request, socket, head) => {
    consoles.push((request.url ?? '').replace(root, ''));
    const refusal = fake.consoleRefusal;
    if (refusal !== undefined) {
      const body = statusBody(refusal);
      socket.end(
        `HTTP/1.1 ${refusal.code} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
      );
      return;
    }
    sockets.handleUpgrade(request, socket, head, (opening) => {
      const waiter = waiting.shift();
      if (waiter === undefined) opened.push(opening);
      else waiter(opening);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  // Listening on a TCP port: the address is no pipe.
  const { port } = server.address() as AddressInfo;
  const fake: FakeApiServer = {
    url: `http://127.0.0.1:${port}`,
    objects,
    actions,
    deletions,
    consoles,
    consoleRefusal: undefined,
    nextConsole: () =>
      new Promise((resolve) => {
        const socket = opened.shift();
        if (socket === undefined) waiting.push(resolve);
        else resolve(socket);
      }),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets.clients) socket.terminate();
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
  return fake;
}
