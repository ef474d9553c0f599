/** A kubeconfig for one user of one server, with everything it needs inside. */
import { stringify } from 'yaml';

export interface KubeconfigOptions {
  /** `https://host:port`. */
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** Name of cluster, user and context; `nativirt` unless said otherwise. */
  readonly name?: string;
  readonly namespace?: string;
}

export function kubeconfigFor(options: KubeconfigOptions): string {
  const name = options.name ?? 'nativirt';
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        { name, cluster: { server: options.server, 'certificate-authority-data': base64(options.ca) } },
      ],
      users: [
        {
          name,
          user: {
            'client-certificate-data': base64(options.cert),
            'client-key-data': base64(options.key),
          },
        },
      ],
      contexts: [
        {
          name,
          context: {
            cluster: name,
            user: name,
            ...(options.namespace === undefined ? {} : { namespace: options.namespace }),
          },
        },
      ],
      'current-context': name,
    },
    { lineWidth: 0 },
  );
}
