/** Flags of `nativirt apiserver`, named as kube-apiserver names its own. */
import { parseDurationMs } from '../../openapi/duration.js';
import { FlagError, integerFlag, logLevelFlag, parseFlags, requiredFlag } from '../commands/flags.js';
import { storeFlags, storeOptions, storeUsage, type StoreOptions } from './store-options.js';

export interface ApiserverOptions {
  readonly bindAddress: string;
  /** 0: any free port. */
  readonly securePort: number;
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  readonly kubeconfig: string | undefined;
  readonly store: StoreOptions;
  readonly nodeAgentAuthorityFile: string;
  readonly nodeAgentCertFile: string;
  readonly nodeAgentKeyFile: string;
  /** Where the parts of this system have their service accounts. */
  readonly componentNamespace: string;
  /** Milliseconds, as the two below. */
  readonly tokenTtl: number;
  readonly allowedTtl: number;
  readonly refusedTtl: number;
  readonly anonymous: boolean;
  readonly maxReads: number;
  readonly maxWrites: number;
  /** How long it goes on serving, though not ready, once it is told to end. Milliseconds. */
  readonly shutdownDelayMs: number;
  readonly auditPolicyFile: string | undefined;
  readonly auditLogPath: string | undefined;
  readonly logLevel: string;
}

export const apiserverUsage = `Usage: nativirt apiserver (--etcd-servers URLS | --data-dir DIR) --tls-cert-file FILE --tls-private-key-file FILE
         --node-agent-certificate-authority FILE --node-agent-client-certificate FILE --node-agent-client-key FILE [FLAGS]

Serves KubeVirt's API groups behind a cluster's kube-apiserver, which an APIService tells to pass their requests on.

  --bind-address ADDRESS      where it listens (default: 0.0.0.0)
  --secure-port PORT          its port; 0 takes any free one (default: 8443)
  --tls-cert-file FILE        its certificate, for the name nativirt-apiserver.NAMESPACE.svc
  --tls-private-key-file FILE the key of that
  --kubeconfig FILE           the cluster's API server and who we are there (default: the pod's service account)
  --anonymous-auth BOOL       serve requests without credentials as system:anonymous (default: true)
  --authentication-token-webhook-cache-ttl DURATION           how long a TokenReview counts (default: 10s)
  --authorization-webhook-cache-authorized-ttl DURATION       how long a SubjectAccessReview that allows (default: 10s)
  --authorization-webhook-cache-unauthorized-ttl DURATION     and one that refuses (default: 10s)
${storeUsage}  --node-agent-certificate-authority FILE  who issues the certificates of node agents
  --node-agent-client-certificate FILE     what we show to them
  --node-agent-client-key FILE             the key of that
  --component-namespace NAMESPACE  where the service accounts of controllers and node agents are (default: kubevirt)
  --max-requests-inflight N   reads at a time (default: 400)
  --max-mutating-requests-inflight N  writes at a time (default: 200)
  --shutdown-delay-duration DURATION  how long it goes on serving after SIGTERM, though no longer ready, so that nobody is sent to it
                              any more when it stops (default: 0s)
  --audit-policy-file FILE    which requests to log (audit.k8s.io/v1 Policy)
  --audit-log-path FILE       where to log them; - is standard output
  --log-level LEVEL           trace, debug, info, warn, error (default: info)
  --help                      this text
`;

const text = { type: 'string' } as const;
const flags = {
  'bind-address': text,
  'secure-port': text,
  'tls-cert-file': text,
  'tls-private-key-file': text,
  kubeconfig: text,
  'anonymous-auth': text,
  'authentication-token-webhook-cache-ttl': text,
  'authorization-webhook-cache-authorized-ttl': text,
  'authorization-webhook-cache-unauthorized-ttl': text,
  ...storeFlags,
  'node-agent-certificate-authority': text,
  'node-agent-client-certificate': text,
  'node-agent-client-key': text,
  'component-namespace': text,
  'max-requests-inflight': text,
  'max-mutating-requests-inflight': text,
  'shutdown-delay-duration': text,
  'audit-policy-file': text,
  'audit-log-path': text,
  'log-level': text,
  help: { type: 'boolean', short: 'h' },
} as const;

type Values = ReturnType<typeof parseFlags<typeof flags>>;

/** Undefined if the user asked for help. Throws `FlagError`. */
export function parseApiserverOptions(argv: readonly string[]): ApiserverOptions | undefined {
  const values = parseFlags(argv, flags);
  if (values.help === true) return undefined;
  const required = (name: keyof Omit<Values, 'help'>): string => requiredFlag(`--${name}`, values[name]);
  const ttl = (name: keyof Omit<Values, 'help'>): number => durationFlag(`--${name}`, values[name] ?? '10s');
  return {
    bindAddress: values['bind-address'] ?? '0.0.0.0',
    securePort: integerFlag('--secure-port', values['secure-port'] ?? '8443', 0, 65_535),
    tlsCertFile: required('tls-cert-file'),
    tlsPrivateKeyFile: required('tls-private-key-file'),
    kubeconfig: values.kubeconfig,
    store: storeOptions(values),
    nodeAgentAuthorityFile: required('node-agent-certificate-authority'),
    nodeAgentCertFile: required('node-agent-client-certificate'),
    nodeAgentKeyFile: required('node-agent-client-key'),
    componentNamespace: values['component-namespace'] ?? 'kubevirt',
    tokenTtl: ttl('authentication-token-webhook-cache-ttl'),
    allowedTtl: ttl('authorization-webhook-cache-authorized-ttl'),
    refusedTtl: ttl('authorization-webhook-cache-unauthorized-ttl'),
    anonymous: booleanFlag('--anonymous-auth', values['anonymous-auth'] ?? 'true'),
    maxReads: integerFlag('--max-requests-inflight', values['max-requests-inflight'] ?? '400', 1, 100_000),
    maxWrites: integerFlag(
      '--max-mutating-requests-inflight',
      values['max-mutating-requests-inflight'] ?? '200',
      1,
      100_000,
    ),
    shutdownDelayMs: durationFlag('--shutdown-delay-duration', values['shutdown-delay-duration'] ?? '0s'),
    auditPolicyFile: values['audit-policy-file'],
    auditLogPath: values['audit-log-path'],
    logLevel: logLevelFlag(values['log-level']),
  };
}

function durationFlag(flag: string, value: string): number {
  const milliseconds = parseDurationMs(value);
  if (milliseconds === undefined) throw new FlagError(`${flag} ${value}: must be a duration like 30s`);
  return milliseconds;
}

function booleanFlag(flag: string, value: string): boolean {
  if (value !== 'true' && value !== 'false') throw new FlagError(`${flag} ${value}: must be true or false`);
  return value === 'true';
}
