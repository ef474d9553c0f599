/** `nativirt controllers`: the controllers as clients of an API server, in a cluster or beside a standalone one. */
import { hostname } from 'node:os';
import { createControllerManager } from '../../controllers/manager.js';
import { createDiscovery } from '../../controllers/runtime/discovery.js';
import { createHttpClient } from '../../controllers/runtime/http-client.js';
import { loadConnection } from '../../controllers/runtime/kubeconfig.js';
import { nativirtVersion } from '../version.js';
import { logLevelFlag, parseFlags } from './flags.js';
import { createLogger, runUntilSignalled } from './process.js';

const usage = `Usage: nativirt controllers [FLAGS]

  --kubeconfig FILE         the API server and who we are there (default: the pod's service account)
  --controllers LIST        which to run: * for all, names, -name to leave one out (default: *)
  --volume-directory DIR    where standalone's persistent volumes are; without it only virtual-machine and
                            virtual-machine-instance run, as a cluster has the others already
  --leader-elect            run only while this process holds the lease nativirt-controllers
  --leader-elect-namespace NAMESPACE  (default: kubevirt)
  --certificates-namespace NAMESPACE  keep the certificates of the installation in this namespace's Secrets
                            (default: they come from elsewhere)
  --launcher-image IMAGE    image of launcher pods (default: nativirt-launcher:${nativirtVersion})
  --log-level LEVEL         trace, debug, info, warn, error (default: info)
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
      'launcher-image': { type: 'string' },
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
    const manager = createControllerManager({
      client,
      discovery: createDiscovery(client),
      logger,
      controllers: flags.controllers ?? '*',
      launcher: { launcherImage: flags['launcher-image'] ?? `nativirt-launcher:${nativirtVersion}` },
      ...(volumeDirectory === undefined ? {} : { standalone: { volumeDirectory } }),
      ...(certificates === undefined ? {} : { certificates: { namespace: certificates } }),
      ...(flags['leader-elect'] === true
        ? {
            leaderElection: {
              namespace: flags['leader-elect-namespace'] ?? 'kubevirt',
              identity: `${hostname()}_${process.pid}`,
            },
          }
        : {}),
    });
    await manager.run(signal);
  });
