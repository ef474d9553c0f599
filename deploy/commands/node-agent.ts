/** `nativirt node-agent`: what one node does for its virtual machines. */
import { hostname } from 'node:os';
import { createHttpClient } from '../../controllers/runtime/http-client.js';
import { loadConnection } from '../../controllers/runtime/kubeconfig.js';
import { createNodeAgent } from '../../node-agent/agent.js';
import { inRounds, registerGuestStatistics } from '../../node-agent/metrics/guest-statistics.js';
import { GuestNetworks } from '../../node-agent/network/guest-networks.js';
import { watchCredentials } from '../certificates/watched-files.js';
import { launcherCommand } from '../standalone/launcher-command.js';
import { bindAddressFlag, healthUsage, startHealthServer } from '../health/health-server.js';
import { processMetrics } from '../health/process-metrics.js';
import { verbosityOf } from '../logging/verbosity.js';
import { nativirtVersion } from '../version.js';
import { integerFlag, logLevelFlag, parseFlags, requiredFlag } from './flags.js';
import { createLogger, runUntilSignalled } from './process.js';

const usage = `Usage: nativirt node-agent --tls-cert-file FILE --tls-private-key-file FILE --client-ca-file FILE [FLAGS]

  --kubeconfig FILE            the API server and who we are there (default: the pod's service account)
  --node-name NAME             the node (default: this machine's name)
  --kubelet-dir DIR            root directory of the kubelet that runs launcher pods (default: /var/lib/kubelet)
  --bind-address ADDRESS       where consoles are served, and the address the Node tells (default: 127.0.0.1)
  --stream-port PORT           its port (default: any free one)
  --tls-cert-file FILE         certificate of the streams: it names <node>.node-agent.nativirt.io
  --tls-private-key-file FILE  its key
  --client-ca-file FILE        who issues the API server's client certificate
  --proc-dir DIR               the node's processes, where /proc shows others (default: /proc)
  --network-dir DIR            what it keeps of pods' networks while they are there (default: /run/nativirt/networks)
  --register-node              where there is no kubelet: make the Node object and run launcher pods as processes
  --data-dir DIR               their pods and images
  --qemu PATH                  the QEMU to run (default: qemu-system-x86_64 on PATH)
  --image-layout-dir DIR       a directory that oci: image references may point into; may be given more than once
  --default-registry HOST      registry of images that name none
${healthUsage}  --log-level LEVEL            trace, debug, info, warn, error (default: info)
  --help                       this text
`;

export const run = (argv: readonly string[]): Promise<number> =>
  runUntilSignalled('node-agent', async (signal) => {
    const flags = parseFlags(argv, {
      kubeconfig: { type: 'string' },
      'node-name': { type: 'string' },
      'kubelet-dir': { type: 'string' },
      'proc-dir': { type: 'string' },
      'network-dir': { type: 'string' },
      'data-dir': { type: 'string' },
      'bind-address': { type: 'string' },
      'stream-port': { type: 'string' },
      'tls-cert-file': { type: 'string' },
      'tls-private-key-file': { type: 'string' },
      'client-ca-file': { type: 'string' },
      'register-node': { type: 'boolean' },
      qemu: { type: 'string' },
      'image-layout-dir': { type: 'string', multiple: true },
      'default-registry': { type: 'string' },
      'health-probe-bind-address': { type: 'string' },
      'log-level': { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    });
    if (flags.help === true) {
      process.stdout.write(usage);
      return;
    }
    const nodeName = flags['node-name'] ?? hostname().toLowerCase();
    const files = {
      cert: requiredFlag('--tls-cert-file', flags['tls-cert-file']),
      key: requiredFlag('--tls-private-key-file', flags['tls-private-key-file']),
      ca: requiredFlag('--client-ca-file', flags['client-ca-file']),
    };
    const name = `nativirt-node-agent:${nodeName}`;
    const connection = await loadConnection(flags.kubeconfig);
    const logger = createLogger(logLevelFlag(flags['log-level']));
    const credentials = await watchCredentials(files, logger);
    const { registry, metrics } = processMetrics();
    const agent = await createNodeAgent({
      metrics,
      client: createHttpClient({ ...connection, userAgent: name, fieldManager: name }),
      nodeName,
      pods:
        flags['register-node'] === true
          ? {
              kind: 'processes',
              dataDirectory: requiredFlag('--data-dir', flags['data-dir']),
              launcher: launcherCommand({ qemu: flags.qemu }),
              images: {
                layoutDirectories: flags['image-layout-dir'] ?? [],
                defaultRegistry: flags['default-registry'],
              },
            }
          : {
              kind: 'kubelet',
              directory: flags['kubelet-dir'] ?? '/var/lib/kubelet',
              networks: new GuestNetworks(flags['network-dir'] ?? '/run/nativirt/networks'),
              proc: flags['proc-dir'] ?? '/proc',
            },
      streams: {
        credentials: () => credentials.current,
        host: flags['bind-address'] ?? '127.0.0.1',
        port: integerFlag('--stream-port', flags['stream-port'] ?? '0', 0, 65_535),
      },
      version: nativirtVersion,
      logger,
      setVerbosity: verbosityOf(logger),
    });
    credentials.onChange(() => agent.reload());
    registerGuestStatistics(
      registry,
      inRounds(() => agent.measure(), Date.now),
    );
    const address = bindAddressFlag('--health-probe-bind-address', flags['health-probe-bind-address']);
    const readiness = {
      name: 'node-agent',
      check: () => {
        if (!agent.isReady()) throw new Error('the agent has not seen its pods and instances yet');
      },
    };
    const health =
      address &&
      (await startHealthServer({ address, readinessChecks: [readiness], registry, signal, logger }));
    try {
      await agent.run(signal);
    } finally {
      await health?.close();
      await credentials.close();
    }
  });
