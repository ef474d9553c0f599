/** Everything in one process: the API server, the controllers and the node agents, wired as they are in a cluster. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { createControllerManager } from '../../controllers/manager.js';
import { controllerRules } from '../../controllers/rbac.js';
import { createDiscovery } from '../../controllers/runtime/discovery.js';
import { createHttpClient, type HttpClient } from '../../controllers/runtime/http-client.js';
import { PrometheusControllerMetrics } from '../../controllers/runtime/prometheus-metrics.js';
import { createNodeAgent, type NodeAgent } from '../../node-agent/agent.js';
import { inRounds, registerGuestStatistics } from '../../node-agent/metrics/guest-statistics.js';
import { nodeAgentRules, podRuntimeRules } from '../../node-agent/rbac.js';
import { openLevelBackend } from '../../storage/level/backend.js';
import { untilAborted } from '../commands/process.js';
import { startApi } from '../server/api.js';
import { standaloneSurroundings } from '../server/standalone-surroundings.js';
import { verbosityOf } from '../logging/verbosity.js';
import { nativirtVersion } from '../version.js';
import { bootstrap, type ComponentRole } from './bootstrap.js';
import {
  controllersUser,
  Identities,
  isComponent,
  nodeAgentOf,
  nodesGroup,
  nodeUser,
  writeAdminKubeconfig,
  type Identity,
} from './identities.js';
import { launcherCommand } from './launcher-command.js';
import { nodeNames } from './node-names.js';
import type { StandaloneOptions } from './options.js';
import { podNetworkOf } from './pod-network.js';

export interface Standalone {
  /** `https://127.0.0.1:7443` */
  readonly server: string;
  readonly kubeconfig: string;
  /** Rejects if a part fails for good; resolves after `stop`. */
  readonly finished: Promise<void>;
  /** `guests`: milliseconds for the guests to shut down; undefined: they run on, and are adopted at the next start. */
  stop(guests?: number): Promise<void>;
}

const roles: readonly ComponentRole[] = [
  {
    name: 'system:nativirt-controllers',
    rules: Object.values(controllerRules).flat(),
    subject: { kind: 'User', name: controllersUser },
  },
  {
    name: 'system:nativirt-node-agent',
    rules: [...nodeAgentRules, ...podRuntimeRules],
    subject: { kind: 'Group', name: nodesGroup },
  },
];

/** Rejects with one clear error if the data directory, the port or a file can not be used; nothing is left running then. */
export async function startStandalone(options: StandaloneOptions, logger: Logger): Promise<Standalone> {
  const { dataDirectory, bindAddress } = options;
  // Launchers that are not root pass through it to their own directories; what is secret in it is closed by itself.
  await mkdir(dataDirectory, { recursive: true, mode: 0o711 });
  const backend = await openLevelBackend({ directory: path.join(dataDirectory, 'store'), logger });
  try {
    const nodes = nodeNames(options.nodes);
    const identities = await Identities.open({ dataDirectory, bindAddress, nodes, logger });
    const metrics = new Registry();
    const apiLogger = logger.child({ component: 'apiserver' });
    const api = await startApi({
      backend,
      logger: apiLogger,
      setVerbosity: verbosityOf(apiLogger),
      host: bindAddress,
      port: options.securePort,
      serving: () => identities.credentials('apiserver'),
      surroundings: await standaloneSurroundings({
        clientCa: () => identities.ca,
        tokenAuthFile: options.tokenAuthFile,
        serviceAccountKey: identities.serviceAccountKey,
        logger: apiLogger,
      }),
      auditPolicyFile: options.auditPolicyFile,
      auditLogPath: options.auditLogPath,
      otherMetrics: [metrics],
      isComponent,
      nodeAgentOf,
      nodeAgentCredentials: () => identities.credentials('apiserver-client'),
      bootstrap: (registry) => bootstrap(registry, roles),
    });
    const server = `https://${reachableHost(bindAddress)}:${api.port}`;
    const kubeconfig = await writeAdminKubeconfig(dataDirectory, identities, server);
    const stopping = new AbortController();
    identities.onChange(async () => {
      api.certificatesChanged();
      await writeAdminKubeconfig(dataDirectory, identities, server);
    });
    const rotating = identities.run(stopping.signal);
    const parts = await startParts(options, identities, server, logger, metrics, stopping.signal);
    return {
      server,
      kubeconfig,
      finished: parts.finished,
      async stop(guests) {
        if (guests !== undefined) await endGuests(parts.agents, guests, logger);
        // The clients first, so that what they still have to say is heard.
        stopping.abort();
        await Promise.allSettled([parts.finished, rotating]);
        await api.stop();
        await backend.close();
      },
    };
  } catch (error) {
    await backend.close();
    throw error;
  }
}

/** One node's trouble must not keep the others from ending theirs, nor this process from ending. */
async function endGuests(agents: readonly NodeAgent[], milliseconds: number, logger: Logger): Promise<void> {
  const results = await Promise.allSettled(agents.map((agent) => agent.shutDown(milliseconds)));
  for (const result of results)
    if (result.status === 'rejected')
      logger.error({ err: result.reason as unknown }, 'guests could not be ended');
}

async function startParts(
  options: StandaloneOptions,
  identities: Identities,
  server: string,
  logger: Logger,
  registry: Registry,
  signal: AbortSignal,
): Promise<{ finished: Promise<void>; agents: readonly NodeAgent[] }> {
  if (options.controllers.length === 0) return { finished: untilAborted(signal), agents: [] };
  const clientOf = (identity: Identity, fieldManager: string): HttpClient =>
    createHttpClient({
      server,
      credentials: () => Promise.resolve(identities.credentials(identity)),
      userAgent: fieldManager,
      fieldManager,
    });
  const client = clientOf('controllers', 'nativirt-controllers');
  const metrics = new PrometheusControllerMetrics(registry);
  const controllersLogger = logger.child({ component: 'controllers' });
  const manager = createControllerManager({
    client,
    discovery: createDiscovery(client),
    logger: controllersLogger,
    setVerbosity: verbosityOf(controllersLogger),
    controllers: options.controllers.join(','),
    launcher: { launcherImage: `nativirt-launcher:${nativirtVersion}` },
    standalone: { volumeDirectory: path.join(options.dataDirectory, 'volumes') },
    limits: options.limits,
    metrics,
    registry,
  });
  const network = podNetworkOf(options.podNetwork, options.dataDirectory);
  const agents = await Promise.all(
    nodeNames(options.nodes).map(async (nodeName) => {
      const agentLogger = logger.child({ component: 'node-agent', node: nodeName });
      const agent = await createNodeAgent({
        client: clientOf(`node-client:${nodeName}`, nodeUser(nodeName)),
        nodeName,
        pods: {
          kind: 'processes',
          dataDirectory: path.join(options.dataDirectory, 'nodes', nodeName),
          launcher: launcherCommand(options),
          network,
          images: {
            layoutDirectories: options.imageLayoutDirectories,
            defaultRegistry: options.defaultRegistry,
          },
        },
        streams: {
          credentials: () => identities.credentials(`node-server:${nodeName}`),
          host: '127.0.0.1',
          port: 0,
        },
        version: nativirtVersion,
        metrics,
        logger: agentLogger,
        setVerbosity: verbosityOf(agentLogger),
      });
      identities.onChange(() => agent.reload());
      return agent;
    }),
  );
  const measure = async () => (await Promise.all(agents.map((agent) => agent.measure()))).flat();
  registerGuestStatistics(
    registry,
    inRounds(measure, () => Date.now()),
  );
  const finished = Promise.all([manager.run(signal), ...agents.map((agent) => agent.run(signal))]).then(() =>
    network?.removeFromNode(),
  );
  await Promise.race([Promise.all(agents.map((agent) => agent.ready)), finished]);
  return { finished, agents };
}

/** Where clients on this machine reach a server that listens there. */
function reachableHost(bindAddress: string): string {
  if (bindAddress === '0.0.0.0' || bindAddress === '::') return '127.0.0.1';
  return bindAddress.includes(':') ? `[${bindAddress}]` : bindAddress;
}
