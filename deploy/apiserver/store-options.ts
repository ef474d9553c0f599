/** Flags that say where objects are stored, named as kube-apiserver names its own. */
import { FlagError } from '../commands/flags.js';

export type StoreOptions = (
  | { readonly kind: 'level'; readonly directory: string }
  | {
      readonly kind: 'etcd';
      readonly endpoints: readonly string[];
      readonly prefix: string;
      readonly caFile: string | undefined;
      readonly certFile: string | undefined;
      readonly keyFile: string | undefined;
    }
) & {
  /** kube-apiserver's EncryptionConfiguration; absent: objects are stored plainly. */
  readonly encryptionConfigFile: string | undefined;
};

export const storeUsage = `  --etcd-servers URLS         members, separated by commas: for two or more replicas
  --etcd-cafile FILE          who issues etcd's certificates
  --etcd-certfile FILE        what we show to etcd
  --etcd-keyfile FILE         the key of that
  --etcd-prefix PREFIX        before all keys (default: /nativirt)
  --data-dir DIR              an embedded store instead of etcd: for one replica
  --encryption-provider-config FILE  how objects are encrypted in the store (apiserver.config.k8s.io/v1
                              EncryptionConfiguration: aesgcm, aescbc, identity); read again when
                              it changes
`;

const text = { type: 'string' } as const;
export const storeFlags = {
  'etcd-servers': text,
  'etcd-cafile': text,
  'etcd-certfile': text,
  'etcd-keyfile': text,
  'etcd-prefix': text,
  'data-dir': text,
  'encryption-provider-config': text,
} as const;

export function storeOptions(
  values: Readonly<Partial<Record<keyof typeof storeFlags, string>>>,
): StoreOptions {
  const directory = values['data-dir'];
  const encryptionConfigFile = values['encryption-provider-config'];
  const endpoints = (values['etcd-servers'] ?? '').split(',').filter((endpoint) => endpoint !== '');
  if (directory !== undefined && endpoints.length > 0)
    throw new FlagError('--data-dir and --etcd-servers: only one of them');
  if (directory !== undefined) return { kind: 'level', directory, encryptionConfigFile };
  if (endpoints.length === 0) throw new FlagError('--etcd-servers or --data-dir must be given');
  return {
    kind: 'etcd',
    endpoints,
    prefix: values['etcd-prefix'] ?? '/nativirt',
    caFile: values['etcd-cafile'],
    certFile: values['etcd-certfile'],
    keyFile: values['etcd-keyfile'],
    encryptionConfigFile,
  };
}
