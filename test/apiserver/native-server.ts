/** The whole API server over the memory backend, as standalone wires it, without controllers. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino, type Logger } from 'pino';
import { FieldManager } from '../../apiserver/apply/field-manager.js';
import { StaticTokens } from '../../apiserver/authn/bearer-token.js';
import { parseTokenFile } from '../../apiserver/authn/token-file.js';
import { escalationPlugin } from '../../apiserver/authz/rbac/escalation.js';
import { PolicyFeed } from '../../apiserver/authz/rbac/policy-feed.js';
import { ensureCa, type CertificateAuthority } from '../../apiserver/pki/authority.js';
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
import { apiserverUser } from '../../openapi/node-agent.js';
import { createStoreSet } from '../../storage/cache/store-set.js';
import { systemClock } from '../../storage/clock.js';
import { createMemoryBackend } from '../../storage/memory/backend.js';

export interface NativeServer {
  readonly server: ApiServer;
  readonly registry: Registry;
  readonly authority: CertificateAuthority;
  readonly port: number;
  close(): Promise<void>;
}

/** `admin` is in system:masters; `bob` and `eve` are nobody in particular. */
export const tokens = 'admin,admin,1,system:masters\nbob,bob,2,"devs,ops"\neve,eve,3\n';

export async function startNativeServer(
  options: Partial<ServerOptions> & { readonly directory?: string } = {},
): Promise<NativeServer> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'nativirt-native-')));
  const logger: Logger = options.logger ?? pino({ level: process.env.LOG_LEVEL ?? 'silent' });
  const authority = await ensureCa(directory);
  const definitions = loadDefinitions();
  const backend = createMemoryBackend();
  const stores = createStoreSet({ backend, logger });
  const feed = new PolicyFeed((group, resource) => registry.endpoint(group, resource), logger);
  const authorizer = rbacAuthorizer(feed.policy);
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
    admission: [escalationPlugin(feed.policy, authorizer)],
    configuration: () => ({}),
    clock: systemClock,
    uuid: randomUUID,
    randomBytes,
  });
  await stores.start();
  const stop = new AbortController();
  feed.start(stop.signal);
  await createNamespaces(registry);
  const tokenAuthFile = join(directory, 'tokens.csv');
  await writeFile(tokenAuthFile, tokens);
  const client = authority.issue({ commonName: apiserverUser, usages: ['client'], days: 1 });
  const dialer = nodeAgentDialer({
    addressOf: registryNodeAddress(registry),
    credentials: () => ({ ca: authority.cert, ...client }),
  });
  const verifiers = [new StaticTokens(parseTokenFile(tokens, tokenAuthFile))];
  const serving = authority.issue({
    commonName: 'nativirt',
    dnsNames: ['localhost'],
    ips: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const config = await completeConfig({
    host: '127.0.0.1',
    port: 0,
    build: { version: '0.0.0' },
    tokenAuthFile,
    ...options,
    logger,
    tls: { ...serving, clientCa: authority.cert },
    authorizer,
    api: nativeApi({
      registry,
      definitions,
      virtualResources: reviewResources(authorizer, feed.policy, verifiers),
      launcherPods: registryLauncherPods(registry),
      dialer,
    }),
    readinessChecks: [
      {
        name: 'rbac',
        check: () => {
          feed.check();
        },
      },
    ],
  });
  const server = createApiServer(config);
  const { port } = await server.start();
  return {
    server,
    registry,
    authority,
    port,
    async close() {
      await server.stop();
      stop.abort();
      await feed.stopped();
      await stores.close();
      await backend.close();
      if (options.directory === undefined) await rm(directory, { recursive: true });
    },
  };
}

async function createNamespaces(registry: Registry): Promise<void> {
  const user = { name: 'bootstrap', groups: ['system:masters'], extra: {} };
  for (const name of ['default', 'kube-system']) {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await registry.create({ group: '', resource: 'namespaces' }, namespace, { user });
  }
}
