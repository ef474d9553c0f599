/** A node agent's stream server, for tests. */
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import type { Clock } from '../../controllers/runtime/clock.js';
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { systemClock } from '../../controllers/runtime/clock.js';
import { SharedInformer } from '../../controllers/runtime/informer.js';
import { virtualMachineInstances } from '../../controllers/runtime/kinds.js';
import { FakeClient } from '../../controllers/runtime/testing/fake-client.js';
import { SilentLogger } from '../../controllers/runtime/testing/silent-logger.js';
import { launcherErrorCodes } from '../../openapi/launcher/protocol.js';
import type { Status } from '../../openapi/meta.js';
import {
  apiserverUser,
  nodeAgentPath,
  nodeAgentServerName,
  type NodeAgentStream,
} from '../../openapi/node-agent.js';
import { PodDirectories } from '../pod-directory.js';
import { namespace, newVmi, nodeName } from './objects.js';
import { StreamServer } from '../streams/stream-server.js';

export type Console = (socket: Socket, mode: string) => void;
/** The result of a method, or an error to answer with. */
export type Answer = (method: string, params: Record<string, unknown>) => unknown;

/** A control socket with a console, ports that echo and whatever `answer` knows, and a VNC server that echoes. */
async function launcher(
  t: TestContext,
  directory: string,
  { console, answer }: { console: Console; answer: Answer },
): Promise<Set<Socket>> {
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
    socket.on('data', function receive(chunk: Buffer): void {
      const message = JSON.parse(chunk.toString()) as Request;
      const { id, method, params } = message;
      const reply = (outcome: object): void => {
        socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
      };
      if (method === 'portForward') {
        socket.off('data', receive);
        reply({ result: null });
        socket.pipe(socket);
      } else if (method !== 'console') {
        reply(outcomeOf(() => answer(method, params ?? {})));
      } else if (params?.['mode'] === 'write' && sockets.size > 1) {
        const { consoleBusy: code } = launcherErrorCodes;
        reply({ error: { code, message: 'somebody writes to the console already' } });
        socket.end();
      } else {
        socket.off('data', receive);
        const mode = String(params?.['mode']);
        reply({ result: { writer: mode !== 'read' } });
        console(socket, mode);
      }
    });
  });
  await serve(join(directory, 'qemu', 'vnc.sock'), (socket) => {
    socket.write('RFB 003.008\n');
    socket.pipe(socket);
  });
  return sockets;
}

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

export class LauncherAnswer extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

function outcomeOf(answer: () => unknown): object {
  try {
    return { result: answer() };
  } catch (error) {
    if (!(error instanceof LauncherAnswer)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}

const echo: Console = (socket) => {
  socket.write('login: ');
  socket.pipe(socket);
};

interface StreamSetUp {
  readonly console: Console;
  readonly clock: Clock;
  readonly answer: Answer;
}

/** What a certificate authority of the API server offers. */
export interface Authority {
  readonly cert: string;
  issue(wanted: {
    commonName: string;
    dnsNames?: readonly string[];
    usages: readonly ('client' | 'server')[];
    days: number;
  }): { readonly cert: string; readonly key: string };
}

/** A stream server with one VMI and its launcher, and an API server's identity. */
export async function setUpStreams(
  t: TestContext,
  ensureCa: (directory: string) => Promise<Authority>,
  { console = echo, clock = systemClock, answer = () => ({}) }: Partial<StreamSetUp> = {},
) {
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
  const sockets = await launcher(t, directories.of('pod-uid').path, { console, answer });
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
    stream: NodeAgentStream = 'console',
    identity: object = apiserver,
  ) => {
    const search = new URLSearchParams({ uid: vmi.metadata.uid, ...query }).toString();
    const path = nodeAgentPath(namespace, 'vm', stream);
    return new WebSocket(`wss://127.0.0.1:${port}${path}?${search}`, { ...tls, ...identity });
  };
  /** A call as the API server makes it. */
  const call = async (
    method: string,
    subject: Parameters<typeof nodeAgentPath>[2],
    query: Record<string, string> = {},
  ): Promise<{ code: number; type: string; body: Buffer }> => {
    const search = new URLSearchParams({ uid: vmi.metadata.uid, ...query }).toString();
    const path = `${nodeAgentPath(namespace, 'vm', subject)}?${search}`;
    const sent = request({ port, host: '127.0.0.1', path, method, ...tls, ...apiserver }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const body = await buffer(response);
    return { code: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', body };
  };
  return { call, authority, streams, port, open, tls, apiserver, sockets, logger, uid: created.metadata.uid };
}

/** Collects what comes until it ends with `end`. */
export function received(socket: WebSocket, end: string): Promise<string> {
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

export function refusal(socket: WebSocket): Promise<Status> {
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

export const closed = (socket: WebSocket): Promise<number> =>
  new Promise((resolve) => {
    socket.on('close', (code) => {
      resolve(code);
    });
  });

export const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};
