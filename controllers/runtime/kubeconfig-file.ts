/** The format of a kubeconfig, and how to find one context in it. */
import { ConfigurationError } from './errors.js';

export interface NamedCluster {
  readonly server: string;
  readonly 'certificate-authority'?: string;
  readonly 'certificate-authority-data'?: string;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
}

export interface NamedUser {
  readonly 'client-certificate'?: string;
  readonly 'client-certificate-data'?: string;
  readonly 'client-key'?: string;
  readonly 'client-key-data'?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly username?: string;
  readonly password?: string;
  readonly as?: string;
  readonly 'as-groups'?: readonly string[];
  readonly exec?: unknown;
  readonly 'auth-provider'?: unknown;
}

export interface NamedContext {
  readonly cluster: string;
  readonly user?: string;
  readonly namespace?: string;
}

export interface Kubeconfig {
  readonly contextName: string;
  readonly context: NamedContext;
  readonly cluster: NamedCluster;
  readonly user: NamedUser;
}

interface Entries {
  readonly name?: unknown;
  readonly [field: string]: unknown;
}

export async function parseKubeconfig(text: string, path: string, contextName?: string): Promise<Kubeconfig> {
  const document = await parseDocument(text, path);
  const find = (list: string, field: string, name: string): object => {
    const entries = document[list];
    const found = Array.isArray(entries)
      ? (entries as Entries[]).find((entry) => entry.name === name)?.[field]
      : undefined;
    if (typeof found !== 'object' || found === null)
      throw new ConfigurationError(`${path}: ${list} has no entry named "${name}"`);
    return found;
  };
  const name = contextName ?? document['current-context'];
  if (typeof name !== 'string' || name === '')
    throw new ConfigurationError(`${path}: current-context is not set`);
  const context = find('contexts', 'context', name) as Partial<NamedContext>;
  if (context.cluster === undefined)
    throw new ConfigurationError(`${path}: context "${name}" names no cluster`);
  const cluster = find('clusters', 'cluster', context.cluster) as Partial<NamedCluster>;
  if (cluster.server === undefined || !URL.canParse(cluster.server))
    throw new ConfigurationError(
      `${path}: cluster "${context.cluster}" needs a server such as https://host:6443`,
    );
  const user: NamedUser =
    context.user === undefined || context.user === '' ? {} : find('users', 'user', context.user);
  return {
    contextName: name,
    context: { ...context, cluster: context.cluster },
    cluster: { ...cluster, server: cluster.server },
    user,
  };
}

async function parseDocument(text: string, path: string): Promise<Record<string, unknown>> {
  const { parse } = await import('yaml');
  let document: unknown;
  try {
    document = parse(text);
  } catch (cause) {
    throw new ConfigurationError(`${path} is not YAML`, { cause });
  }
  if (typeof document !== 'object' || document === null)
    throw new ConfigurationError(`${path} is not a kubeconfig`);
  return document as Record<string, unknown>;
}
