/** Flags of `nativirt standalone`, named as kube-apiserver and kube-controller-manager name theirs. */
import { homedir } from 'node:os';
import path from 'node:path';
import { parsePodNetwork, podNetworkFlags, podNetworkUsage, type PodNetworkOptions } from './pod-network.js';
import type { RateLimiterOptions } from '../../controllers/runtime/rate-limiter.js';
import { integerFlag, logLevelFlag, parseFlags } from '../commands/flags.js';
import { parseRetryLimits, retryFlags, retryUsage } from '../commands/retry-flags.js';
import {
  guestsAtStopFlags,
  guestsAtStopUsage,
  parseGuestsAtStop,
  type GuestsAtStop,
} from './guests-at-stop.js';

export interface StandaloneOptions {
  readonly dataDirectory: string;
  readonly bindAddress: string;
  /** 0: any free port. */
  readonly securePort: number;
  readonly tokenAuthFile: string | undefined;
  readonly auditPolicyFile: string | undefined;
  readonly auditLogPath: string | undefined;
  /** kube-controller-manager's list: `*`, names, `-name`. Empty: the API server alone. */
  readonly controllers: readonly string[];
  /** How many nodes this machine pretends to be. */
  readonly nodes: number;
  /** QEMU to run; found on PATH if absent. */
  readonly qemu: string | undefined;
  /** The launcher's program; the bundle beside this one if absent. Tests name their own. */
  readonly launcherBundle?: string;
  /** Where `oci:` image references may point. */
  readonly imageLayoutDirectories: readonly string[];
  /** Registry of image references that name none. */
  readonly defaultRegistry: string | undefined;
  readonly podNetwork: PodNetworkOptions;
  readonly guestsAtStop: GuestsAtStop;
  /** How controllers try failures again. */
  readonly limits: RateLimiterOptions;
  readonly logLevel: string;
}

export const standaloneUsage = `Usage: nativirt standalone [FLAGS]

Runs the API server, the controllers and a node agent in the foreground, for this machine.

  --data-dir DIR            objects, certificates, disks and logs (default: ~/.local/share/nativirt)
  --bind-address ADDRESS    where the API server listens (default: 127.0.0.1)
  --secure-port PORT        its port; 0 takes any free one (default: 7443)
  --token-auth-file FILE    static bearer tokens: token,user,uid,"group1,group2" a line
  --audit-policy-file FILE  which requests to log (audit.k8s.io/v1 Policy)
  --audit-log-path FILE     where to log them; - is standard output
  --controllers LIST        what runs beside the API server: * for all, names, -name to leave one out;
                            empty for the API server alone (default: *)
  --nodes N                 simulate N nodes on this machine (default: 1)
  --qemu PATH               the QEMU to run (default: qemu-system-x86_64 on PATH)
  --image-layout-dir DIR    a directory that oci: image references may point into; may be given more than once
  --default-registry HOST   registry of images that name none (default: such images are refused)
${podNetworkUsage}${guestsAtStopUsage}${retryUsage}  --log-level LEVEL         trace, debug, info, warn, error (default: info)
  --help                    this text

DIR/admin.kubeconfig is for kubectl. SIGTERM and SIGINT stop it; virtual machines go on and are adopted at the next start, unless --end-guests says otherwise.
`;

/** Undefined if the user asked for help. Throws `FlagError`. */
export function parseStandaloneOptions(argv: readonly string[]): StandaloneOptions | undefined {
  const values = parseFlags(argv, flags);
  if (values.help === true) return undefined;
  return {
    dataDirectory: path.resolve(values['data-dir'] ?? path.join(homedir(), '.local', 'share', 'nativirt')),
    bindAddress: values['bind-address'] ?? '127.0.0.1',
    securePort: integerFlag('--secure-port', values['secure-port'] ?? '7443', 0, 65_535),
    tokenAuthFile: values['token-auth-file'],
    auditPolicyFile: values['audit-policy-file'],
    auditLogPath: values['audit-log-path'],
    controllers: (values.controllers ?? '*')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    nodes: integerFlag('--nodes', values.nodes ?? '1', 1, 100),
    qemu: values.qemu,
    imageLayoutDirectories: (values['image-layout-dir'] ?? []).map((directory) => path.resolve(directory)),
    defaultRegistry: values['default-registry'],
    podNetwork: parsePodNetwork(values),
    guestsAtStop: parseGuestsAtStop(values),
    limits: parseRetryLimits(values),
    logLevel: logLevelFlag(values['log-level']),
  };
}

const flags = {
  'data-dir': { type: 'string' },
  'bind-address': { type: 'string' },
  'secure-port': { type: 'string' },
  'token-auth-file': { type: 'string' },
  'audit-policy-file': { type: 'string' },
  'audit-log-path': { type: 'string' },
  controllers: { type: 'string' },
  nodes: { type: 'string' },
  qemu: { type: 'string' },
  'image-layout-dir': { type: 'string', multiple: true },
  'default-registry': { type: 'string' },
  ...podNetworkFlags,
  ...guestsAtStopFlags,
  ...retryFlags,
  'log-level': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;
