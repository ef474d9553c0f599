/** The server itself: listens, hands each request to the pipeline, and stops without breaking what is in flight. */
import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { constants } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import { AuditRecorder } from '../audit/recorder.js';
import { createDocumentSource } from '../../openapi/documents/source.js';
import { buildSurface, publishedResources } from '../discovery/api-surface.js';
import { Discovery } from '../discovery/discovery.js';
import { OpenApi } from '../discovery/openapi.js';
import { versionHandler } from '../discovery/version.js';
import { Exchange } from '../http/exchange.js';
import { refuseMalformed } from '../http/malformed.js';
import { upgradeExchange } from '../http/upgrade.js';
import { HealthEndpoints, ping } from '../health/health.js';
import { ServerMetrics } from '../metrics/metrics.js';
import type { CompletedConfig, TlsFiles } from './config.js';
import { pathRoutes } from './path-routes.js';
import { Pipeline } from './pipeline.js';
import { Router } from './router.js';

type State = 'new' | 'running' | 'stopping' | 'stopped';

/** Go clients keep idle connections for 90 s: closing earlier would race with their next request. */
const keepAliveTimeoutMs = 120_000;
const maxHeaderBytes = 64 * 1024;
/** Kubernetes names reach 253 characters, and Fastify's router measures whole segments. */
const maxParamLength = 4096;

export class ApiServer {
  readonly metrics: ServerMetrics;
  readonly health: HealthEndpoints;
  readonly #server: https.Server;
  readonly #fastify: FastifyInstance;
  readonly #pipeline: Pipeline;
  readonly #openApi: OpenApi;
  /** Every TCP connection, those that have left HTTP and those that are still shaking hands included. */
  readonly #connections = new Set<Socket>();
  /** Every TLS connection. */
  readonly #secureConnections = new Set<Socket>();
  #state: State = 'new';
  #stopped: Promise<void> | undefined;

  constructor(private readonly config: CompletedConfig) {
    const { api, logger } = config;
    this.metrics = new ServerMetrics(config.countObjects);
    this.health = new HealthEndpoints(logger);
    this.health.add(['healthz', 'livez', 'readyz'], ping);
    for (const check of config.livenessChecks) this.health.add(['healthz', 'livez', 'readyz'], check);
    for (const check of config.readinessChecks) this.health.add(['healthz', 'readyz'], check);
    this.health.add(['readyz'], { name: 'shutdown', check: () => this.#refuseWhenStopping() });
    const surface = buildSurface(api.resources, api.virtualResources, api.subresources);
    const discovery = new Discovery(surface);
    const { version } = config.build;
    const documents = createDocumentSource(api.definitions, publishedResources(surface), version);
    this.#openApi = new OpenApi(documents, config.now);
    const routes = pathRoutes({
      discovery,
      openApi: this.#openApi,
      health: this.health,
      metrics: [this.metrics.registry, ...config.otherMetrics],
      version: versionHandler(config.build),
    });
    const audit = config.audit && new AuditRecorder(config.audit.policy, config.audit.log, this.metrics);
    this.#pipeline = new Pipeline(config, new Router(api, discovery, routes), this.metrics, audit);
    this.#server = https.createServer(serverOptions(config.tls));
    this.#fastify = this.#buildFastify();
    this.#listenForConnections();
  }

  #buildFastify(): FastifyInstance {
    const fastify = Fastify({
      logger: false,
      routerOptions: { maxParamLength },
      clientErrorHandler: refuseMalformed,
      serverFactory: (handler) => this.#server.on('request', handler),
      // What the router itself refuses goes the common way too, and gets its Status there.
      frameworkErrors: (_error, request, reply) => {
        reply.hijack();
        this.#serve(new Exchange(request.raw, reply.raw, undefined));
      },
    });
    // Everything happens before Fastify would look at the body: its parsers, schemas and serializers have no part in it.
    fastify.addHook('onRequest', (request, reply) => {
      reply.hijack();
      this.#serve(new Exchange(request.raw, reply.raw, undefined));
    });
    fastify.all('/*', unreachable);
    fastify.setNotFoundHandler(unreachable);
    return fastify;
  }

  #serve(exchange: Exchange): void {
    void this.#pipeline.serve(exchange);
  }

  #listenForConnections(): void {
    for (const [event, open] of [
      ['connection', this.#connections],
      ['secureConnection', this.#secureConnections],
    ] as const) {
      this.#server.on(event, (socket: Socket) => {
        open.add(socket);
        socket.once('close', () => open.delete(socket));
      });
    }
    this.#server.on('upgrade', (request, socket: Socket, head) => {
      this.#serve(upgradeExchange(request, socket, head));
    });
    this.#server.on('tlsClientError', (error) => {
      this.metrics.tlsError();
      this.config.logger.debug({ err: error }, 'TLS handshake failed');
    });
  }

  /** Resolves once the port is open, with the address it listens on. */
  async start(): Promise<AddressInfo> {
    if (this.#state !== 'new') throw new Error(`a server that is ${this.#state} can not be started`);
    this.#state = 'running';
    this.#openApi.prepare();
    await this.#fastify.ready();
    this.#server.listen({ port: this.config.port, host: this.config.host });
    await once(this.#server, 'listening');
    const address = this.address;
    this.config.logger.info({ host: address.address, port: address.port }, 'serving');
    return address;
  }

  get address(): AddressInfo {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the server does not listen');
    return address;
  }

  /** TCP connections that are open, busy or not. */
  get openConnections(): number {
    return this.#connections.size;
  }

  /** New connections get the new certificate; those that are open go on with the old one. */
  setServingCertificate(tls: TlsFiles): void {
    this.#server.setSecureContext(secureContext(tls));
    this.config.clientCertificates.setAuthorities(tls.clientCa);
  }

  /**
   * Not ready any more; after `shutdownDelayMs` takes no new connections and ends watches and streams; lets other requests
   * finish, for `shutdownTimeoutMs` at most.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { shutdownDelayMs, shutdownTimeoutMs, logger } = this.config;
    const wasRunning = this.#state === 'running';
    this.#state = 'stopping';
    if (wasRunning && shutdownDelayMs > 0) await sleep(shutdownDelayMs);
    if (wasRunning) {
      const closed = once(this.#server, 'close');
      this.#server.close();
      this.#pipeline.stopLongRunning();
      for (const socket of this.#secureConnections) if (!this.#pipeline.isBusy(socket)) socket.destroySoon();
      const limit = setTimeout(() => {
        logger.warn('requests are still in flight: closing their connections');
        for (const socket of this.#connections) socket.destroy();
      }, shutdownTimeoutMs);
      await closed;
      clearTimeout(limit);
    }
    await this.#fastify.close();
    await this.config.audit?.log.close();
    this.#state = 'stopped';
  }

  #refuseWhenStopping(): void {
    if (this.#state !== 'running') throw new Error(`the server is ${this.#state}`);
  }
}

export function createApiServer(config: CompletedConfig): ApiServer {
  return new ApiServer(config);
}

function unreachable(): never {
  throw new Error('the onRequest hook takes every request');
}

/** Replacing the context resets all of these, so they belong together. */
function secureContext(tls: TlsFiles): SecureContextOptions {
  return {
    cert: tls.cert,
    key: tls.key,
    // Clients offer a certificate only if it comes from an authority that is named here.
    ca: [tls.clientCa, tls.requestHeaderCa ?? ''].filter((bundle) => bundle !== ''),
    minVersion: 'TLSv1.2',
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}

function serverOptions(tls: TlsFiles): https.ServerOptions {
  return {
    ...secureContext(tls),
    // HTTP/2 in node kills whole sessions when many streams are cancelled quickly, and aggregators share one session.
    ALPNProtocols: ['http/1.1'],
    // A certificate is asked for and never required: who has none may bring a token, or be anonymous.
    requestCert: true,
    rejectUnauthorized: false,
    maxHeaderSize: maxHeaderBytes,
    keepAliveTimeout: keepAliveTimeoutMs,
    headersTimeout: keepAliveTimeoutMs + 5_000,
    handshakeTimeout: 10_000,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
  };
}
