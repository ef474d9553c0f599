/** What a server is made of. `completeConfig` checks the options and reads their files; only its result can be started. */
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { Registry as MetricsRegistry } from 'prom-client';
import { anonymousAuthenticator } from '../authn/anonymous.js';
import type { Authenticator } from '../authn/authenticator.js';
import { BearerTokenAuthenticator, type TokenVerifier } from '../authn/bearer-token.js';
import { ClientCertificateAuthenticator } from '../authn/client-certificate.js';
import type { Definitions } from '../../openapi/schema.js';
import type { BuildInfo } from '../discovery/version.js';
import type { InFlightLimits } from '../flowcontrol/in-flight.js';
import type { HealthCheck } from '../health/health.js';
import { openAuditLog, type AuditLog } from '../audit/audit-log.js';
import { parseAuditPolicy, type AuditPolicy } from '../audit/policy.js';
import type { StorageCount } from '../metrics/metrics.js';
import type { Resource } from '../registry/resource.js';
import type { Handler } from '../request.js';
import type { Subresource } from '../subresources/interface.js';
import type { VirtualResource } from '../discovery/virtual-resource.js';
import type { Authorizer } from '../authz/authorizer.js';
import type { PathRoute } from './router.js';

export interface TlsFiles {
  /** PEM: the serving certificate, followed by its issuers if there are any between it and the root. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
  /** PEM bundle: who may issue users' client certificates. Empty: nobody. */
  readonly clientCa: string;
  /** PEM bundle: who may issue the certificates of front proxies. */
  readonly requestHeaderCa?: string;
}

/** Everything that serves resources; the generic registry is the largest part of it. */
export interface Api {
  readonly definitions: Definitions;
  /** In the order in which discovery lists them. */
  readonly resources: readonly Resource[];
  /** Answers for stored resources and their `/status` and `/scale`. */
  readonly handle: Handler;
  readonly virtualResources: readonly VirtualResource[];
  readonly subresources: readonly Subresource[];
  /** Served outside resources, besides documents, health and metrics. */
  readonly paths?: readonly PathRoute[];
}

export interface ServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls: TlsFiles;
  readonly api: Api;
  readonly authorizer: Authorizer;
  readonly logger: Logger;
  readonly build: BuildInfo;
  /** Ways to verify bearer tokens, asked in turn. */
  readonly tokenVerifiers?: readonly TokenVerifier[];
  /** Asked before client certificates and tokens (front-proxy headers). */
  readonly authenticators?: readonly Authenticator[];
  /** Whether requests without credentials are served as `system:anonymous`; true unless said otherwise. */
  readonly anonymous?: boolean;
  readonly auditPolicyFile?: string | undefined;
  readonly auditLogPath?: string | undefined;
  readonly limits?: Partial<InFlightLimits>;
  /** Requests that are not long-running are ended after this; 60,000 unless said otherwise. */
  readonly requestTimeoutMs?: number;
  /** How long requests in flight may take once the server is told to stop; 30,000 unless said otherwise. */
  readonly shutdownTimeoutMs?: number;
  /** How long the server goes on as before, except for its readiness, once it is told to stop; 0 unless said otherwise. */
  readonly shutdownDelayMs?: number;
  readonly livenessChecks?: readonly HealthCheck[];
  readonly readinessChecks?: readonly HealthCheck[];
  /** Why nothing but health is served yet; undefined: everything is. */
  readonly startup?: () => string | undefined;
  readonly countObjects?: () => readonly StorageCount[];
  /** Metrics of other parts of this process, told beside the server's own. */
  readonly otherMetrics?: readonly Pick<MetricsRegistry, 'metrics'>[];
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

declare const complete: unique symbol;

export interface CompletedConfig extends Required<
  Pick<
    ServerOptions,
    | 'host'
    | 'port'
    | 'tls'
    | 'api'
    | 'authorizer'
    | 'logger'
    | 'build'
    | 'requestTimeoutMs'
    | 'shutdownTimeoutMs'
    | 'shutdownDelayMs'
    | 'livenessChecks'
    | 'readinessChecks'
    | 'startup'
    | 'countObjects'
    | 'otherMetrics'
    | 'now'
  >
> {
  /** Only `completeConfig` makes one of these. */
  readonly [complete]: true;
  readonly limits: InFlightLimits;
  readonly authenticators: readonly Authenticator[];
  /** The one of them whose authorities may be replaced while the server runs. */
  readonly clientCertificates: ClientCertificateAuthenticator;
  readonly audit: { readonly policy: AuditPolicy; readonly log: AuditLog } | undefined;
}

/** Rejects with one clear line for an option that can not be. */
export async function completeConfig(options: ServerOptions): Promise<CompletedConfig> {
  const now = options.now ?? Date.now;
  const clientCertificates = new ClientCertificateAuthenticator(options.tls.clientCa, now);
  const config = {
    host: options.host,
    port: options.port,
    tls: options.tls,
    api: options.api,
    authorizer: options.authorizer,
    logger: options.logger,
    build: options.build,
    limits: { reads: options.limits?.reads ?? 400, writes: options.limits?.writes ?? 200 },
    requestTimeoutMs: options.requestTimeoutMs ?? 60_000,
    shutdownTimeoutMs: options.shutdownTimeoutMs ?? 30_000,
    shutdownDelayMs: options.shutdownDelayMs ?? 0,
    livenessChecks: options.livenessChecks ?? [],
    readinessChecks: options.readinessChecks ?? [],
    startup: options.startup ?? (() => undefined),
    countObjects: options.countObjects ?? (() => []),
    otherMetrics: options.otherMetrics ?? [],
    now,
    clientCertificates,
    authenticators: [
      ...(options.authenticators ?? []),
      clientCertificates,
      new BearerTokenAuthenticator(options.tokenVerifiers ?? []),
      ...(options.anonymous === false ? [] : [anonymousAuthenticator]),
    ],
    audit: await auditOf(options),
  };
  // The brand exists for the compiler only.
  return config as unknown as CompletedConfig;
}

async function auditOf(options: ServerOptions): Promise<CompletedConfig['audit']> {
  const { auditPolicyFile, auditLogPath } = options;
  if (auditPolicyFile === undefined && auditLogPath === undefined) return undefined;
  if (auditPolicyFile === undefined || auditLogPath === undefined) {
    throw new Error('--audit-policy-file and --audit-log-path are needed together');
  }
  const policy = parseAuditPolicy(await readFile(auditPolicyFile, 'utf8'), auditPolicyFile);
  return { policy, log: await openAuditLog(auditLogPath, options.logger) };
}
