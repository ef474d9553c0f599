/** Streams of a machine over a websocket, with the kubeconfig's credentials. */
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { ClientOptions, WebSocket } from 'ws';
import { ConnectionError, StatusError } from '../controllers/runtime/errors.js';
import type { ConnectionOptions } from '../controllers/runtime/kubeconfig.js';
import type { Status } from '../openapi/meta.js';

export interface StreamRequest {
  readonly namespace: string;
  readonly resource: 'virtualmachineinstances' | 'virtualmachines';
  readonly name: string;
  /** `console`, `portforward/22/tcp`. */
  readonly stream: string;
  readonly query?: URLSearchParams;
}

/** Binary frames of raw bytes, as KubeVirt's clients and servers agree. */
const subprotocol = 'plain.kubevirt.io';
const handshakeTimeout = 30_000;

export function streamUrl(server: string, request: StreamRequest): URL {
  const { namespace, resource, name, stream, query } = request;
  const url = new URL(server);
  const path = ['apis', 'kubevirt.io', 'v1', 'namespaces', namespace, resource, name].map(encodeURIComponent);
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:';
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${path.join('/')}/${stream}`;
  url.search = query?.toString() ?? '';
  return url;
}

async function socketOptions(connection: ConnectionOptions): Promise<ClientOptions> {
  const { ca, cert, key, authorization, impersonate } = await connection.credentials();
  return {
    ca,
    cert,
    key,
    rejectUnauthorized: connection.insecureSkipTlsVerify !== true,
    ...(connection.serverName === undefined ? {} : { servername: connection.serverName }),
    headers: {
      'user-agent': 'kubectl-virt',
      ...(authorization === undefined ? {} : { authorization }),
    },
    finishRequest: (upgrade) => {
      if (impersonate !== undefined) {
        upgrade.setHeader('impersonate-user', impersonate.user);
        upgrade.setHeader('impersonate-group', [...impersonate.groups]);
      }
      upgrade.end();
    },
    handshakeTimeout,
    perMessageDeflate: false,
  };
}

/** The refusal that came in place of an upgrade. */
async function refusal(response: IncomingMessage): Promise<StatusError> {
  const body = await text(response);
  const code = response.statusCode ?? 0;
  let status: Status | undefined;
  try {
    const parsed: unknown = JSON.parse(body);
    // What a server calls a Status is one: the type is checked where it is used.
    if (typeof parsed === 'object' && parsed !== null && 'kind' in parsed && parsed.kind === 'Status')
      status = parsed as Status;
  } catch {
    // KubeVirt and proxies also answer in plain text.
    status = undefined;
  }
  const message = body.trim() === '' ? `the server answered ${code}` : body.trim().slice(0, 300);
  return new StatusError(
    status ?? {
      apiVersion: 'v1',
      kind: 'Status',
      metadata: {},
      status: 'Failure',
      code,
      reason: 'Unknown',
      message,
    },
  );
}

/** An open, paused socket; `StatusError` if the server refused, `ConnectionError` if it could not be asked. */
export async function openStream(
  connection: ConnectionOptions,
  request: StreamRequest,
  signal: AbortSignal,
): Promise<WebSocket> {
  signal.throwIfAborted();
  const url = streamUrl(connection.server, request);
  const [{ WebSocket: Socket }, options] = await Promise.all([import('ws'), socketOptions(connection)]);
  const socket = new Socket(url, [subprotocol], options);
  socket.binaryType = 'nodebuffer';
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      socket.terminate();
      reject(signal.reason instanceof Error ? signal.reason : new ConnectionError('interrupted'));
    };
    signal.addEventListener('abort', abort, { once: true });
    const settle = (action: () => void): void => {
      signal.removeEventListener('abort', abort);
      action();
    };
    socket.once('open', () => {
      // Nothing gets lost before somebody listens.
      socket.pause();
      settle(() => {
        resolve(socket);
      });
    });
    socket.once('unexpected-response', (_, response) => {
      refusal(response).then(
        (error) => {
          settle(() => {
            reject(error);
          });
          socket.terminate();
        },
        (cause: unknown) => {
          settle(() => {
            reject(new ConnectionError(`the answer of ${url.host} broke off`, { cause }));
          });
        },
      );
    });
    // Also keeps an error that follows the promise from being thrown.
    socket.on('error', (cause) => {
      settle(() => {
        reject(new ConnectionError(`cannot connect to ${url.host}: ${cause.message}`, { cause }));
      });
    });
  });
}
