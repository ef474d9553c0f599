/** The API server over a backend: stores, registry, admission, authorization, and the HTTPS server in front. */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { ConfigurationSource } from '../../apiserver/admission/configuration/effective.js';
import type { IsComponent, NodeAgentOf } from '../../apiserver/admission/components.js';
import type { AdmissionPlugin } from '../../apiserver/admission/interface.js';
import { admissionPlugins } from '../../apiserver/admission/plugins.js';
import { FieldManager } from '../../apiserver/apply/field-manager.js';
import { StaticTokens } from '../../apiserver/authn/bearer-token.js';
import { parseTokenFile } from '../../apiserver/authn/token-file.js';
import { escalationPlugin } from '../../apiserver/authz/rbac/escalation.js';
import { PolicyFeed } from '../../apiserver/authz/rbac/policy-feed.js';
import { attributesOfStored } from '../../apiserver/registry/attributes.js';
import { resourcePrefix } from '../../apiserver/registry/keys.js';
import { createRegistry, type Registry } from '../../apiserver/registry/registry.js';
import { coreResources, kubevirtResources } from '../../apiserver/resources/index.js';
import { createApiServer, type ApiServer } from '../../apiserver/server/api-server.js';
import { completeConfig, type ServerOptions } from '../../apiserver/server/config.js';
import { nativeApi, rbacAuthorizer, reviewResources } from '../../apiserver/server/native-api.js';
import { registryLauncherPods } from '../../apiserver/subresources/launcher-pods.js';
import { nodeAgentDialer, registryNodeAddress } from '../../apiserver/subresources/node-agent-dialer.js';
import { loadDefinitions } from '../../openapi/definitions.js';
import type { KubeVirt } from '../../openapi/generated/types/kubevirt_v1.js';
import { createStoreSet } from '../../storage/cache/store-set.js';
import { systemClock } from '../../storage/clock.js';
import type { Backend } from '../../storage/interface.js';
import { nativirtVersion } from '../version.js';
import { followKubeVirt } from './kubevirt-feed.js';

export interface ApiOptions extends Pick<
  ServerOptions,
  'host' | 'port' | 'tls' | 'tokenAuthFile' | 'auditPolicyFile' | 'auditLogPath'
> {
  readonly backend: Backend;
  readonly logger: Logger;
  readonly isComponent: IsComponent;
  readonly nodeAgentOf: NodeAgentOf;
  /** What the server shows to node agents, and whom it trusts there. PEM. */
  readonly nodeAgentCredentials: () => { readonly ca: string; readonly cert: string; readonly key: string };
  /** Objects that must be there before the first request. */
  readonly bootstrap: (registry: Registry) => Promise<void>;
}

export interface RunningApi {
  readonly server: ApiServer;
  readonly registry: Registry;
  readonly port: number;
  /** Finishes what is in flight. The backend stays open. */
  stop(): Promise<void>;
}

export async function startApi(options: ApiOptions): Promise<RunningApi> {
  const { backend, logger } = options;
  const definitions = loadDefinitions();
  const stores = createStoreSet({ backend, logger });
  const feed = new PolicyFeed((group, resource) => registry.endpoint(group, resource), logger);
  const authorizer = rbacAuthorizer(feed.policy);
  let kubevirt: KubeVirt | undefined;
  const configuration = new ConfigurationSource(() => kubevirt);
  const now = (): string => `${new Date(systemClock.now()).toISOString().slice(0, 19)}Z`;
  const admission: readonly AdmissionPlugin[] = [
    escalationPlugin(feed.policy, authorizer),
    ...admissionPlugins({
      isComponent: options.isComponent,
      nodeAgentOf: options.nodeAgentOf,
      uuid: randomUUID,
      randomBytes,
      now,
    }),
  ];
  const registry: Registry = createRegistry({
    resources: [...kubevirtResources, ...coreResources],
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
    admission,
    configuration: () => configuration.get(),
    clock: systemClock,
    uuid: randomUUID,
    randomBytes,
  });
  await stores.start();
  const stop = new AbortController();
  feed.start(stop.signal);
  const following = followKubeVirt(registry, logger, stop.signal, (object) => {
    kubevirt = object;
  });
  await options.bootstrap(registry);

  const { tokenAuthFile } = options;
  const verifiers =
    tokenAuthFile === undefined
      ? []
      : [new StaticTokens(parseTokenFile(await readFile(tokenAuthFile, 'utf8'), tokenAuthFile))];
  const config = await completeConfig({
    host: options.host,
    port: options.port,
    tls: options.tls,
    tokenAuthFile,
    auditPolicyFile: options.auditPolicyFile,
    auditLogPath: options.auditLogPath,
    build: { version: nativirtVersion },
    logger,
    authorizer,
    api: nativeApi({
      registry,
      definitions,
      virtualResources: reviewResources(authorizer, feed.policy, verifiers),
      launcherPods: registryLauncherPods(registry),
      dialer: nodeAgentDialer({
        addressOf: registryNodeAddress(registry),
        credentials: options.nodeAgentCredentials,
      }),
    }),
    readinessChecks: [
      { name: 'rbac', check: () => feed.check() },
      { name: 'storage', check: () => backend.check(AbortSignal.timeout(5000)) },
    ],
  });
  const server = createApiServer(config);
  const { port } = await server.start();
  return {
    server,
    registry,
    port,
    async stop() {
      await server.stop();
      stop.abort();
      await Promise.all([feed.stopped(), following]);
      await stores.close();
    },
  };
}
