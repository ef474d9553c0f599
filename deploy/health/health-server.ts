/**
 * What kubelets and Prometheus ask of a process that serves nothing else: `/healthz`, `/livez`, `/readyz`, `/metrics`, and `/leader`
 * where there is one. Plain HTTP without credentials, as probes have none: nothing here is secret, nor changes anything.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { HealthEndpoints, healthEndpoints, ping, type HealthCheck } from '../../apiserver/health/health.js';
import { jsonReply, pathNotFound, textReply } from '../../apiserver/http/status-reply.js';
import type { BytesReply } from '../../apiserver/request.js';
import { metricsReply } from '../../apiserver/server/path-routes.js';
import type { HttpClient } from '../../controllers/runtime/http-client.js';
import { FlagError, integerFlag } from '../commands/flags.js';

export interface HealthServerOptions {
  /** As `bindAddressFlag` reads it. */
  readonly address: { readonly host: string | undefined; readonly port: number };
  readonly readinessChecks: readonly HealthCheck[];
  readonly registry: Registry;
  /** Whether this process leads its fellows; absent if it has none. */
  readonly leads?: () => boolean;
  /** Aborts when the process is told to end: from then on it is not ready. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

const checkMilliseconds = 5000;
const mostConnections = 64;

/** Resolves once it listens. */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const { address, logger } = options;
  const health = healthOf(options);
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    void serve(request, response, options, health);
  });
  server.maxConnections = mostConnections;
  server.listen(address.port, address.host);
  await once(server, 'listening');
  // A listening TCP server has one of these.
  const { port } = server.address() as AddressInfo;
  logger.info({ port }, 'serving health and metrics');
  return {
    port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function healthOf({ readinessChecks, signal, logger }: HealthServerOptions): HealthEndpoints {
  const health = new HealthEndpoints(logger);
  health.add(healthEndpoints, ping);
  for (const check of readinessChecks) health.add(['readyz'], check);
  health.add(['readyz'], {
    name: 'shutdown',
    check: () => {
      if (signal.aborted) throw new Error('the process is ending');
    },
  });
  return health;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  options: HealthServerOptions,
  health: HealthEndpoints,
): Promise<void> {
  let reply: BytesReply;
  try {
    reply = await answer(request, options, health);
  } catch (error) {
    options.logger.error({ err: error, url: request.url }, 'a health or metrics request failed');
    reply = textReply(500, 'internal server error\n');
  }
  response.writeHead(reply.status, { 'content-type': reply.contentType, ...reply.headers });
  response.end(request.method === 'HEAD' ? undefined : Buffer.concat(reply.chunks));
}

async function answer(
  { method, url = '/' }: IncomingMessage,
  { registry, leads }: HealthServerOptions,
  health: HealthEndpoints,
): Promise<BytesReply> {
  if (method !== 'GET' && method !== 'HEAD')
    return textReply(405, 'method not allowed\n', { allow: 'GET, HEAD' });
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  const [, first] = path.split('/');
  const endpoint = healthEndpoints.find((name) => name === first);
  if (endpoint !== undefined) {
    return health.answer(endpoint, {
      path,
      query: new URLSearchParams(query === -1 ? '' : url.slice(query)),
      signal: AbortSignal.timeout(checkMilliseconds),
    });
  }
  if (path === '/metrics') return metricsReply([registry]);
  // KubeVirt's own answer, which its dashboards know.
  if (path === '/leader' && leads !== undefined) return jsonReply({ apiserver: { leader: String(leads()) } });
  return pathNotFound();
}

/** Of a process that is a client of an API server. */
export const apiserverCheck = (client: Pick<HttpClient, 'raw'>): HealthCheck => ({
  name: 'apiserver',
  check: async (signal) => {
    await client.raw('/version', signal);
  },
});

export const healthUsage = `  --health-probe-bind-address ADDRESS:PORT  where /healthz, /livez, /readyz and /metrics are served, by plain HTTP: :8081 for
                            all addresses (default: 0, which is nowhere)
`;

/** Undefined if nothing is to be served. */
export function bindAddressFlag(flag: string, text = '0'): HealthServerOptions['address'] | undefined {
  if (text === '0') return undefined;
  const [, host = '', port] = /^(.*):(\d+)$/.exec(text) ?? [];
  if (port === undefined) throw new FlagError(`${flag} ${text}: must be ADDRESS:PORT, :PORT, or 0 for none`);
  return {
    host: host === '' ? undefined : host.replace(/^\[(.*)\]$/, '$1'),
    port: integerFlag(flag, port, 0, 65_535),
  };
}
