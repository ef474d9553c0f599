/** `nativirt controllers`: the controllers as clients of an API server, in a cluster or beside a standalone one. */
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Installation } from '../../controllers/kubevirt/kubevirt-controller.js';
import { createControllerManager } from '../../controllers/manager.js';
import { createDiscovery } from '../../controllers/runtime/discovery.js';
import { createHttpClient } from '../../controllers/runtime/http-client.js';
import { loadConnection } from '../../controllers/runtime/kubeconfig.js';
import type { KubeVirtConfiguration } from '../../openapi/generated/types/kubevirt_v1.js';
import { apiserverCheck, bindAddressFlag, healthUsage, startHealthServer } from '../health/health-server.js';
import { processMetrics } from '../health/process-metrics.js';
import { verbosityOf } from '../logging/verbosity.js';
import { nativirtVersion } from '../version.js';
import { FlagError, logLevelFlag, parseFlags } from './flags.js';
import { createLogger, runUntilSignalled } from './process.js';
import { parseRetryLimits, retryFlags, retryUsage } from './retry-flags.js';

const usage = `Usage: nativirt controllers [FLAGS]

  --kubeconfig FILE         the API server and who we are there (default: the pod's service account)
  --controllers LIST        which to run: * for all, names, -name to leave one out (default: *)
  --volume-directory DIR    where standalone's persistent volumes are; without it only virtual-machine and
                            virtual-machine-instance run, as a cluster has the others already
  --leader-elect            run only while this process holds the lease nativirt-controllers
  --leader-elect-namespace NAMESPACE  (default: kubevirt)
  --certificates-namespace NAMESPACE  keep the certificates of the installation in this namespace's Secrets
                            (default: they come from elsewhere)
  --kubevirt-namespace NAMESPACE  make the KubeVirt object in this namespace, and tell in its status how the installation is
                            (default: others do)
  --kubevirt-configuration FILE   spec.configuration of that object, as JSON (default: none)
  --launcher-image IMAGE    image of launcher pods (default: nativirt-launcher:${nativirtVersion})
${retryUsage}${healthUsage}  --log-level LEVEL         trace, debug, info, warn, error (default: info)
  --help                    this text
`;

export const run = (argv: readonly string[]): Promise<number> =>
  runUntilSignalled('controllers', async (signal) => {
    const flags = parseFlags(argv, {
      kubeconfig: { type: 'string' },
      controllers: { type: 'string' },
      'volume-directory': { type: 'string' },
      'leader-elect': { type: 'boolean' },
      'leader-elect-namespace': { type: 'string' },
      'certificates-namespace': { type: 'string' },
      'kubevirt-namespace': { type: 'string' },
      'kubevirt-configuration': { type: 'string' },
      'launcher-image': { type: 'string' },
      ...retryFlags,
      'health-probe-bind-address': { type: 'string' },
      'log-level': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    });
    if (flags.help === true) {
      process.stdout.write(usage);
      return;
    }
    const logger = createLogger(logLevelFlag(flags['log-level']));
    const name = 'nativirt-controllers';
    const connection = await loadConnection(flags.kubeconfig);
    const client = createHttpClient({ ...connection, userAgent: name, fieldManager: name });
    const volumeDirectory = flags['volume-directory'];
    const certificates = flags['certificates-namespace'];
    const installation = await installationOf(flags['kubevirt-namespace'], flags['kubevirt-configuration']);
    const { registry, metrics } = processMetrics();
    const manager = createControllerManager({
      client,
      metrics,
      registry,
      discovery: createDiscovery(client),
      logger,
      setVerbosity: verbosityOf(logger),
      controllers: flags.controllers ?? '*',
      limits: parseRetryLimits(flags),
      launcher: {
        launcherImage: flags['launcher-image'] ?? `nativirt-launcher:${nativirtVersion}`,
        devicePlugins: volumeDirectory === undefined,
      },
      ...(volumeDirectory === undefined ? {} : { standalone: { volumeDirectory } }),
      ...(certificates === undefined ? {} : { certificates: { namespace: certificates } }),
      ...(installation === undefined ? {} : { installation }),
      ...(flags['leader-elect'] === true
        ? {
            leaderElection: {
              namespace: flags['leader-elect-namespace'] ?? 'kubevirt',
              identity: `${hostname()}_${process.pid}`,
            },
          }
        : {}),
    });
    const address = bindAddressFlag('--health-probe-bind-address', flags['health-probe-bind-address']);
    const health =
      address &&
      (await startHealthServer({
        address,
        readinessChecks: [apiserverCheck(client)],
        registry,
        leads: () => manager.leads(),
        signal,
        logger,
      }));
    try {
      await manager.run(signal);
    } finally {
      await health?.close();
    }
  });

async function installationOf(
  namespace: string | undefined,
  file: string | undefined,
): Promise<Installation | undefined> {
  if (namespace === undefined) return undefined;
  return { namespace, version: nativirtVersion, configuration: await readConfiguration(file) };
}

async function readConfiguration(file: string | undefined): Promise<KubeVirtConfiguration> {
  if (file === undefined) return {};
  let content: unknown;
  try {
    content = JSON.parse(await readFile(file, 'utf8'));
  } catch (cause) {
    throw new FlagError(`--kubevirt-configuration ${file}: must be a file with JSON`, { cause });
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new FlagError(`--kubevirt-configuration ${file}: must be an object`);
  // The API server judges what is in it.
  return content;
}
