/** The API server in a cluster: its store, its identity, and kube-apiserver around it. */
import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { createHttpClient } from '../../controllers/runtime/http-client.js';
import { loadConnection } from '../../controllers/runtime/kubeconfig.js';
import { openEtcdBackend } from '../../storage/etcd/backend.js';
import type { Backend } from '../../storage/interface.js';
import { openLevelBackend } from '../../storage/level/backend.js';
import { startApi, type RunningApi } from '../server/api.js';
import { clusterSurroundings } from '../server/cluster-surroundings.js';
import { clusterComponents } from './components.js';
import type { ApiserverOptions, StoreOptions } from './options.js';

export interface Apiserver {
  readonly port: number;
  stop(): Promise<void>;
}

/** Rejects with one clear error if a file, the store or the port can not be used; nothing is left running then. */
export async function startApiserver(options: ApiserverOptions, logger: Logger): Promise<Apiserver> {
  const [serving, nodeAgents] = await Promise.all([
    keyPair(options.tlsCertFile, options.tlsPrivateKeyFile),
    keyPair(options.nodeAgentCertFile, options.nodeAgentKeyFile),
  ]);
  const nodeAgentCredentials = { ...nodeAgents, ca: await readFile(options.nodeAgentAuthorityFile, 'utf8') };
  const name = 'nativirt-apiserver';
  const connection = await loadConnection(options.kubeconfig);
  const client = createHttpClient({ ...connection, userAgent: name, fieldManager: name });
  const backend = await openBackend(options.store, logger);
  let api: RunningApi;
  try {
    api = await startApi({
      backend,
      logger,
      host: options.bindAddress,
      port: options.securePort,
      serving,
      surroundings: clusterSurroundings({ client, logger, ...options }),
      ...clusterComponents(options.componentNamespace),
      nodeAgentCredentials: () => nodeAgentCredentials,
      anonymous: options.anonymous,
      limits: { reads: options.maxReads, writes: options.maxWrites },
      auditPolicyFile: options.auditPolicyFile,
      auditLogPath: options.auditLogPath,
    });
  } catch (error) {
    await backend.close();
    throw error;
  }
  return {
    port: api.port,
    async stop() {
      await api.stop();
      await backend.close();
      client.close();
    },
  };
}

async function keyPair(certFile: string, keyFile: string): Promise<{ cert: string; key: string }> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  return { cert, key };
}

async function openBackend(store: StoreOptions, logger: Logger): Promise<Backend> {
  if (store.kind === 'level') return openLevelBackend({ directory: store.directory, logger });
  const { endpoints, prefix, caFile, certFile, keyFile } = store;
  const read = async (file: string | undefined): Promise<Buffer | undefined> =>
    file === undefined ? undefined : readFile(file);
  const [ca, cert, key] = await Promise.all([read(caFile), read(certFile), read(keyFile)]);
  return openEtcdBackend({
    endpoints,
    root: prefix,
    tls: {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    },
    logger,
  });
}
