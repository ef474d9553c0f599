/** The API server in a cluster: its store, its identity, and kube-apiserver around it. */
import type { Logger } from 'pino';
import { createHttpClient } from '../../controllers/runtime/http-client.js';
import { loadConnection } from '../../controllers/runtime/kubeconfig.js';
import { watchCredentials, watchKeyPair } from '../certificates/watched-files.js';
import { startApi } from '../server/api.js';
import { clusterSurroundings } from '../server/cluster-surroundings.js';
import { verbosityOf } from '../logging/verbosity.js';
import { clusterComponents } from './components.js';
import type { ApiserverOptions } from './options.js';
import { openStore } from './store.js';

export interface Apiserver {
  readonly port: number;
  /** Resolves once its store and the cluster have answered; rejects if it can never be ready, or is stopped before. */
  readonly ready: Promise<void>;
  stop(): Promise<void>;
}

/**
 * Rejects with one clear error if a file, a directory or the port can not be used; nothing is left running then. For etcd and for
 * kube-apiserver it waits, unready.
 */
export async function startApiserver(options: ApiserverOptions, logger: Logger): Promise<Apiserver> {
  const setVerbosity = verbosityOf(logger);
  /** What was opened, the last first. */
  const open: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const close of open.splice(0)) await close();
  };
  try {
    const serving = await watchKeyPair(options.tlsCertFile, options.tlsPrivateKeyFile, logger);
    open.unshift(() => serving.close());
    const nodeAgents = await watchCredentials(
      {
        ca: options.nodeAgentAuthorityFile,
        cert: options.nodeAgentCertFile,
        key: options.nodeAgentKeyFile,
      },
      logger,
    );
    open.unshift(() => nodeAgents.close());
    const name = 'nativirt-apiserver';
    const connection = await loadConnection(options.kubeconfig);
    const client = createHttpClient({ ...connection, userAgent: name, fieldManager: name });
    open.unshift(() => client.close());
    const store = await openStore(options.store, logger, { waits: true });
    open.unshift(() => store.close());
    const api = await startApi({
      backend: store.backend,
      opening: store.opened,
      logger,
      setVerbosity,
      host: options.bindAddress,
      port: options.securePort,
      serving: () => serving.current,
      surroundings: clusterSurroundings({ client, logger, ...options }),
      ...clusterComponents(options.componentNamespace),
      nodeAgentCredentials: () => nodeAgents.current,
      anonymous: options.anonymous,
      limits: { reads: options.maxReads, writes: options.maxWrites },
      shutdownDelayMs: options.shutdownDelayMs,
      auditPolicyFile: options.auditPolicyFile,
      auditLogPath: options.auditLogPath,
    });
    open.unshift(() => api.stop());
    serving.onChange(() => api.certificatesChanged());
    return { port: api.port, ready: api.started, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
