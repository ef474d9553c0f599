/** Opens a stream of a VMI at its node's agent, over mutual TLS. */
import type { IncomingMessage } from 'node:http';
import { Agent } from 'node:https';
import { WebSocket } from 'ws';
import type { Status } from '../../openapi/meta.js';
import {
  nodeAgentAddressAnnotation,
  nodeAgentServerName,
  nodeAgentPath,
  type NodeAgentStream,
} from '../../openapi/node-agent.js';
import type { Node } from '../../openapi/generated/types/core_v1.js';
import { ApiError, type Reason } from '../errors/api-error.js';
import type { Registry } from '../registry/registry.js';
import { maxPayloadBytes } from './websocket.js';

export type StreamName = NodeAgentStream;

export interface StreamRequest {
  readonly node: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly stream: StreamName;
  readonly query: Readonly<Record<string, string>>;
  /** W3C trace context to pass on. */
  readonly traceparent?: string | undefined;
}

export interface NodeAgentDialer {
  /** Rejects with an ApiError: the agent's own refusal, or 503 if it can not be reached. */
  open(request: StreamRequest, signal: AbortSignal): Promise<WebSocket>;
}

export interface DialerOptions {
  /** `host:port` of a node's agent; undefined if the node has none. */
  addressOf(node: string): Promise<string | undefined>;
  /** PEM; asked for at every dial, so that certificates may be renewed. */
  credentials(): { readonly ca: string; readonly cert: string; readonly key: string };
  readonly timeoutMs?: number;
}

const maxRefusalBytes = 64 * 1024;

export function nodeAgentDialer(options: DialerOptions): NodeAgentDialer {
  return {
    async open(request, signal) {
      const address = await options.addressOf(request.node);
      if (address === undefined) {
        throw unavailable(
          `node ${request.node} has no ${nodeAgentAddressAnnotation}: its agent is not running`,
        );
      }
      const query = new URLSearchParams({ uid: request.uid, ...request.query });
      const path = nodeAgentPath(request.namespace, request.name, request.stream);
      const socket = new WebSocket(`wss://${address}${path}?${query.toString()}`, {
        // Its own connection, with whatever certificate is current.
        agent: new Agent({ ...options.credentials(), servername: nodeAgentServerName(request.node) }),
        handshakeTimeout: options.timeoutMs ?? 10_000,
        maxPayload: maxPayloadBytes,
        perMessageDeflate: false,
        ...(request.traceparent === undefined ? {} : { headers: { traceparent: request.traceparent } }),
      });
      return opened(socket, request.node, signal);
    },
  };
}

/** Where standalone's own registry knows the nodes. */
export function registryNodeAddress(registry: () => Pick<Registry, 'get'>): DialerOptions['addressOf'] {
  return async (name) => {
    const node = await registry().get<Node>({ group: '', resource: 'nodes', name });
    return node?.metadata.annotations?.[nodeAgentAddressAnnotation];
  };
}

function opened(socket: WebSocket, node: string, signal: AbortSignal): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      socket.terminate();
    };
    const settle = (): void => {
      signal.removeEventListener('abort', abort);
    };
    // The first message may follow the handshake at once: nothing may be read before somebody listens.
    socket.once('open', () => {
      settle();
      socket.pause();
      resolve(socket);
    });
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      settle();
      refusal(response).then(reject, reject);
    });
    socket.on('error', (cause) => {
      settle();
      reject(unavailable(`the agent of node ${node} can not be reached: ${cause.message}`, cause));
    });
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
  });
}

function unavailable(message: string, cause?: Error): ApiError {
  return new ApiError('ServiceUnavailable', message, { retryAfterSeconds: 1 }, { cause });
}

/** The agent's Status, passed on to the user. */
async function refusal(response: IncomingMessage): Promise<ApiError> {
  const text = await boundedText(response);
  const status = parseStatus(text);
  const message = status?.message ?? `the node agent answered ${response.statusCode ?? 0}`;
  const reason = reasons.find((known) => known === status?.reason) ?? 'ServiceUnavailable';
  return new ApiError(reason, message, status?.details);
}

function boundedText(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxRefusalBytes) response.destroy();
      else chunks.push(chunk);
    });
    response.once('error', reject);
    response.once('close', () => {
      resolve(Buffer.concat(chunks).toString());
    });
  });
}

/** What an agent may say of a stream; anything else is a fault between us and it, not of the user. */
const reasons: readonly Reason[] = [
  'BadRequest',
  'NotFound',
  'Conflict',
  'TooManyRequests',
  'NotImplemented',
];

function parseStatus(text: string): Partial<Status> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
