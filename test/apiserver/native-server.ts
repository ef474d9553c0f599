/** The whole API server over the memory backend, as standalone wires it, without controllers. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { ensureCa, type CertificateAuthority } from '../../apiserver/pki/authority.js';
import { ensureServiceAccountKey } from '../../apiserver/pki/service-account-key.js';
import type { Registry } from '../../apiserver/registry/registry.js';
import type { Resource } from '../../apiserver/registry/resource.js';
import type { ApiServer } from '../../apiserver/server/api-server.js';
import { startApi, type ApiOptions } from '../../deploy/server/api.js';
import { standaloneSurroundings } from '../../deploy/server/standalone-surroundings.js';
import { isComponent, nodeAgentOf } from '../../deploy/standalone/identities.js';
import { apiserverUser } from '../../openapi/node-agent.js';
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

export interface NativeServerOptions extends Partial<ApiOptions> {
  /** Kinds that are served beside those of standalone. */
  readonly resources?: readonly Resource[];
}

export async function startNativeServer({
  resources = [],
  ...options
}: NativeServerOptions = {}): Promise<NativeServer> {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-native-'));
  const logger = options.logger ?? pino({ level: process.env.LOG_LEVEL ?? 'silent' });
  const authority = await ensureCa(directory);
  const backend = options.backend ?? createMemoryBackend();
  const tokenAuthFile = join(directory, 'tokens.csv');
  await writeFile(tokenAuthFile, tokens);
  const client = authority.issue({ commonName: apiserverUser, usages: ['client'], days: 1 });
  const serving = authority.issue({
    commonName: 'nativirt',
    dnsNames: ['localhost'],
    ips: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const standalone = await standaloneSurroundings({
    clientCa: () => authority.cert,
    tokenAuthFile,
    serviceAccountKey: await ensureServiceAccountKey(directory),
    logger,
  });
  const api = await startApi({
    host: '127.0.0.1',
    port: 0,
    logger,
    backend,
    serving: () => serving,
    surroundings: (registry) => {
      const around = standalone(registry);
      return { ...around, resources: [...around.resources, ...resources] };
    },
    isComponent,
    nodeAgentOf,
    nodeAgentCredentials: () => ({ ca: authority.cert, ...client }),
    bootstrap: createNamespaces,
    ...options,
  });
  return {
    ...api,
    authority,
    async close() {
      await api.stop();
      await backend.close();
      await rm(directory, { recursive: true });
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
