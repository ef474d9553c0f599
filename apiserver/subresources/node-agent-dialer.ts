/** Reaches a VMI at its node's agent, over mutual TLS: opens streams, makes calls. */
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest, type AgentOptions } from 'node:https';
import { WebSocket } from 'ws';
import type { Status } from '../../openapi/meta.js';
import {
  nodeAgentAddressAnnotation,
  nodeAgentServerName,
  nodeAgentPath,
  type NodeAgentAction,
  type NodeAgentRead,
  type NodeAgentStream,
} from '../../openapi/node-agent.js';
import type { Node } from '../../openapi/generated/types/core_v1.js';
import { ApiError, type Reason } from '../errors/api-error.js';
import type { Registry } from '../registry/registry.js';
import { maxPayloadBytes } from './websocket.js';

export interface InstanceAddress {
  readonly node: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** W3C trace context to pass on. */
  readonly traceparent?: string | undefined;
}

export interface StreamRequest extends InstanceAddress {
  readonly stream: NodeAgentStream;
  readonly query: Readonly<Record<string, string>>;
}

export interface CallRequest extends InstanceAddress {
  readonly method: 'GET' | 'PUT';
  readonly subject: NodeAgentAction | NodeAgentRead;
  readonly query: Readonly<Record<string, string>>;
}

export interface CallAnswer {
  readonly contentType: string;
  readonly body: Buffer;
}

/** Both methods reject with an ApiError: the agent's own refusal, or 503 if it can not be reached. */
export interface NodeAgentDialer {
  open(request: StreamRequest, signal: AbortSignal): Promise<WebSocket>;
  call(request: CallRequest, signal: AbortSignal): Promise<CallAnswer>;
}

export interface DialerOptions {
  /** `host:port` of a node's agent; undefined if the node has none. */
  addressOf(node: string): Promise<string | undefined>;
  /** PEM; asked for at every dial, so that certificates may be renewed. */
  credentials(): { readonly ca: string; readonly cert: string; readonly key: string };
  readonly timeoutMs?: number;
}

const maxRefusalBytes = 64 * 1024;
/** Screenshots. */
const maxAnswerBytes = 32 * 1024 * 1024;

export function nodeAgentDialer(options: DialerOptions): NodeAgentDialer {
  const addressOf = async (node: string): Promise<string> => {
    const address = await options.addressOf(node);
    if (address !== undefined) return address;
    throw unavailable(`node ${node} has no ${nodeAgentAddressAnnotation}: its agent is not running`);
  };
  // Its own connection, with whatever certificate is current.
  const tls = (node: string): AgentOptions => ({
    ...options.credentials(),
    servername: nodeAgentServerName(node),
  });
  return {
    async open(request, signal) {
      const url = urlOf('wss', await addressOf(request.node), request, request.stream);
      const socket = new WebSocket(url, {
        agent: new Agent(tls(request.node)),
        handshakeTimeout: options.timeoutMs ?? 10_000,
        maxPayload: maxPayloadBytes,
        perMessageDeflate: false,
        headers: traceHeaders(request),
      });
      return opened(socket, request.node, signal);
    },

    async call(request, signal) {
      const url = urlOf('https', await addressOf(request.node), request, request.subject);
      const response = await answered(url, { ...tls(request.node), signal }, request);
      const { statusCode = 0, headers } = response;
      if (statusCode < 200 || statusCode > 299) throw await refusal(response);
      const body = await readBounded(response, maxAnswerBytes);
      // A guest that is slow, and an agent that dies: the answer broke off.
      if (!response.complete) throw unavailable(`the answer of the agent of node ${request.node} broke off`);
      return { contentType: headers['content-type'] ?? 'application/json', body };
    },
  };
}

function urlOf(
  scheme: 'wss' | 'https',
  address: string,
  { namespace, name, uid, query }: InstanceAddress & Pick<CallRequest, 'query'>,
  subject: Parameters<typeof nodeAgentPath>[2],
): string {
  const search = new URLSearchParams({ uid, ...query }).toString();
  return `${scheme}://${address}${nodeAgentPath(namespace, name, subject)}?${search}`;
}

function traceHeaders({ traceparent }: InstanceAddress): Record<string, string> {
  return traceparent === undefined ? {} : { traceparent };
}

function answered(
  url: string,
  options: AgentOptions & { readonly signal: AbortSignal },
  request: CallRequest,
): Promise<IncomingMessage> {
  const { method, node } = request;
  return new Promise((resolve, reject) => {
    const sent = httpsRequest(url, { ...options, agent: false, method, headers: traceHeaders(request) });
    sent.once('response', resolve);
    sent.on('error', (cause) => {
      reject(unavailable(`the agent of node ${node} can not be reached: ${cause.message}`, cause));
    });
    sent.end();
  });
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
  const text = (await readBounded(response, maxRefusalBytes)).toString();
  const status = parseStatus(text);
  const message = status?.message ?? `the node agent answered ${response.statusCode ?? 0}`;
  const reason = reasons.find((known) => known === status?.reason) ?? 'ServiceUnavailable';
  return new ApiError(reason, message, status?.details);
}

/** What has come when the answer ends, or is cut off for its size. */
function readBounded(response: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) response.destroy();
      else chunks.push(chunk);
    });
    response.once('error', reject);
    response.once('close', () => {
      resolve(Buffer.concat(chunks));
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
  'InternalError',
];

function parseStatus(text: string): Partial<Status> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
