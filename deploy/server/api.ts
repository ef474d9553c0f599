/** The API server over a backend: stores, registry, admission, and the HTTPS server in front, in its surroundings. */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Logger } from 'pino';
import type { IsComponent, NodeAgentOf } from '../../apiserver/admission/components.js';
import { ConfigurationSource } from '../../apiserver/admission/configuration/effective.js';
import { admissionPlugins } from '../../apiserver/admission/plugins.js';
import { FieldManager } from '../../apiserver/apply/field-manager.js';
import { attributesOfStored } from '../../apiserver/registry/attributes.js';
import { resourcePrefix } from '../../apiserver/registry/keys.js';
import { createRegistry, type Registry } from '../../apiserver/registry/registry.js';
import { kubevirtResources } from '../../apiserver/resources/index.js';
import { createApiServer, type ApiServer } from '../../apiserver/server/api-server.js';
import { completeConfig, type ServerOptions } from '../../apiserver/server/config.js';
import { nativeApi } from '../../apiserver/server/native-api.js';
import { nodeAgentDialer } from '../../apiserver/subresources/node-agent-dialer.js';
import type { Definitions } from '../../openapi/schema.js';
import { webhookRoutes } from '../../apiserver/webhooks/webhooks.js';
import { loadDefinitions } from '../../openapi/definitions.js';
import type { KubeVirt, KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import type { SetVerbosity } from '../../controllers/runtime/logger.js';
import { createStoreSet, type StoreSet } from '../../storage/cache/store-set.js';
import { systemClock } from '../../storage/clock.js';
import type { Backend } from '../../storage/interface.js';
import { nativirtVersion } from '../version.js';
import { followKubeVirt } from './kubevirt-feed.js';
import type { BuildSurroundings, Surroundings } from './surroundings.js';

export interface ApiOptions extends Pick<
  ServerOptions,
  | 'host'
  | 'port'
  | 'anonymous'
  | 'auditPolicyFile'
  | 'auditLogPath'
  | 'limits'
  | 'otherMetrics'
  | 'shutdownDelayMs'
> {
  readonly backend: Backend;
  readonly logger: Logger;
  /** Of `logger`. */
  readonly setVerbosity?: SetVerbosity;
  /** PEM: what the server shows to its clients. Asked at the start, and again by `certificatesChanged`. */
  readonly serving: () => { readonly cert: string; readonly key: string };
  readonly surroundings: BuildSurroundings;
  readonly isComponent: IsComponent;
  readonly nodeAgentOf: NodeAgentOf;
  /** What the server shows to node agents, and whom it trusts there. PEM. */
  readonly nodeAgentCredentials: () => { readonly ca: string; readonly cert: string; readonly key: string };
  /**
   * Resolves when the backend can be used. With it the server listens at once, and is unready until everything is there; without it, it
   * listens only then.
   */
  readonly opening?: Promise<void>;
  /** Writes objects that must be there before the first request. */
  readonly bootstrap?: (registry: Registry) => Promise<void>;
}

export interface RunningApi {
  readonly server: ApiServer;
  readonly registry: Registry;
  readonly port: number;
  /** Resolves once everything is there; rejects if it never can be, or the server stops before. */
  readonly started: Promise<void>;
  /** Takes what it shows, and whom it trusts, anew; connections that are open go on. */
  certificatesChanged(): void;
  /** Finishes what is in flight. The backend stays open. */
  stop(): Promise<void>;
}

export async function startApi(options: ApiOptions): Promise<RunningApi> {
  const { backend, logger } = options;
  const definitions = loadDefinitions();
  const stores = createStoreSet({ backend, logger });
  let kubevirt: KubeVirt | undefined;
  const configuration = new ConfigurationSource(() => kubevirt);
  const surroundings = options.surroundings(() => registry);
  const registry = buildRegistry(options, surroundings, definitions, stores, configuration);
  const stop = new AbortController();
  let following: Promise<void> | undefined;
  let isStarted = false;
  let certificatesChanged = (): void => undefined;
  const start = async (): Promise<void> => {
    // Who stops it closes the backend only afterwards.
    if (options.opening !== undefined) await Promise.race([options.opening, once(stop.signal, 'abort')]);
    await stores.start(stop.signal);
    following = followKubeVirt(registry, logger, stop.signal, (object) => {
      kubevirt = object;
      const { logVerbosity } = object?.spec.configuration?.developerConfiguration ?? {};
      options.setVerbosity?.(logVerbosity?.virtAPI);
    });
    await surroundings.start(stop.signal, () => {
      certificatesChanged();
    });
    await options.bootstrap?.(registry);
    isStarted = true;
  };
  const started = start();
  const settled = started.catch(() => undefined);
  /** The server apart, which comes last and goes first. */
  const end = async (): Promise<void> => {
    stop.abort();
    await settled;
    await Promise.all([surroundings.stopped(), following]);
    await stores.close();
  };
  try {
    if (options.opening === undefined) await started;
    const startup = (): string | undefined =>
      isStarted ? undefined : 'not everything that it needs has been read';
    const server = await buildServer(
      { ...options, startup },
      surroundings,
      definitions,
      stores,
      registry,
      configuration,
    );
    certificatesChanged = () => {
      server.setServingCertificate({ ...options.serving(), ...surroundings.clientAuthorities() });
    };
    const { port } = await server.start();
    return {
      server,
      registry,
      port,
      started,
      certificatesChanged,
      async stop() {
        await server.stop();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

function buildRegistry(
  options: ApiOptions,
  surroundings: Surroundings,
  definitions: Definitions,
  stores: StoreSet,
  configuration: ConfigurationSource,
): Registry {
  const now = (): string => `${new Date(systemClock.now()).toISOString().slice(0, 19)}Z`;
  const { isComponent, nodeAgentOf } = options;
  return createRegistry({
    resources: [...kubevirtResources, ...surroundings.resources],
    definitions,
    storeFor: (resource) =>
      stores.add({
        prefix: resourcePrefix(resource),
        attributesOf: (_key, bytes) => attributesOfStored(resource, bytes),
      }),
    fieldsFor: (resource) =>
      new FieldManager({
        definitions,
        definition: resource.versions[0]?.definition ?? '',
        separateStatus: resource.status,
      }),
    admission: [
      ...surroundings.admission,
      ...admissionPlugins({ isComponent, nodeAgentOf, uuid: randomUUID, randomBytes, now }),
    ],
    configuration: () => configuration.get(),
    ...(surroundings.namespaces === undefined ? {} : { namespaces: surroundings.namespaces }),
    ...(surroundings.elsewhere === undefined ? {} : { elsewhere: surroundings.elsewhere }),
    clock: systemClock,
    uuid: randomUUID,
    randomBytes,
  });
}

async function buildServer(
  options: ApiOptions & Required<Pick<ServerOptions, 'startup'>>,
  surroundings: Surroundings,
  definitions: Definitions,
  stores: StoreSet,
  registry: Registry,
  configuration: ConfigurationSource,
): Promise<ApiServer> {
  const { backend, logger, serving, anonymous, limits, otherMetrics, shutdownDelayMs } = options;
  const effective = (): KubeVirtConfiguration => configuration.get();
  const native = nativeApi({
    registry,
    definitions,
    configuration: effective,
    virtualResources: surroundings.virtualResources,
    launcherPods: surroundings.launcherPods,
    build: { version: nativirtVersion },
    dialer: nodeAgentDialer({
      addressOf: surroundings.nodeAddress,
      credentials: options.nodeAgentCredentials,
    }),
  });
  const config = await completeConfig({
    host: options.host,
    port: options.port,
    tls: { ...serving(), ...surroundings.clientAuthorities() },
    authenticators: surroundings.authenticators,
    tokenVerifiers: surroundings.tokenVerifiers,
    ...(anonymous === undefined ? {} : { anonymous }),
    ...(limits === undefined ? {} : { limits }),
    ...(otherMetrics === undefined ? {} : { otherMetrics }),
    ...(shutdownDelayMs === undefined ? {} : { shutdownDelayMs }),
    countObjects: () =>
      registry.resources.map(({ group, plural }) => ({
        group,
        resource: plural,
        count: registry.endpoint(group, plural)?.store.size ?? 0,
      })),
    auditPolicyFile: options.auditPolicyFile,
    auditLogPath: options.auditLogPath,
    build: { version: nativirtVersion },
    logger,
    authorizer: surroundings.authorizer,
    startup: options.startup,
    api: {
      ...native,
      subresources: [...native.subresources, ...surroundings.subresources(definitions, effective)],
      paths: webhookRoutes({ registry, configuration: effective }),
    },
    readinessChecks: [
      ...surroundings.readinessChecks,
      { name: 'storage', check: () => backend.check(AbortSignal.timeout(5000)) },
      { name: 'watch-cache', check: () => stores.check(AbortSignal.timeout(5000)) },
    ],
  });
  return createApiServer(config);
}
