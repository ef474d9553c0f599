/** Where the API server is and who we are: from a kubeconfig, or from the files that a pod has. */
import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { systemClock, type Clock } from './clock.js';
import { ConfigurationError } from './errors.js';
import type { HttpClientOptions } from './http-client.js';
import { parseKubeconfig, type NamedUser } from './kubeconfig-file.js';
import type { Credentials } from './transport.js';

/** What `createHttpClient` needs, besides the caller's own settings. */
export type ConnectionOptions = Pick<
  HttpClientOptions,
  'server' | 'credentials' | 'serverName' | 'insecureSkipTlsVerify'
> & {
  /** The context's namespace, or the pod's. */
  readonly namespace: string | undefined;
};

/** Files are read again this often, so that rotated certificates and tokens are picked up. Milliseconds. */
const rereadAfter = 60_000;
const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

/** An explicit path, else $KUBECONFIG, else the pod's files, else ~/.kube/config. */
export async function loadConnection(
  path?: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<ConnectionOptions> {
  const chosen = path ?? environment.KUBECONFIG?.split(':').find((part) => part !== '');
  if (chosen !== undefined) return loadKubeconfig(chosen);
  if (environment.KUBERNETES_SERVICE_HOST !== undefined) return inClusterConnection(environment);
  return loadKubeconfig(join(homedir(), '.kube', 'config'));
}

export function inClusterConnection(
  environment: NodeJS.ProcessEnv = process.env,
  directory = serviceAccount,
  clock: Clock = systemClock,
): Promise<ConnectionOptions> {
  const host = environment.KUBERNETES_SERVICE_HOST;
  if (host === undefined) throw new ConfigurationError('this is no pod: KUBERNETES_SERVICE_HOST is not set');
  const port = environment.KUBERNETES_SERVICE_PORT ?? '443';
  const credentials = refreshed(clock, async () => ({
    ca: await readPem(join(directory, 'ca.crt')),
    authorization: `Bearer ${(await readPem(join(directory, 'token'))).trim()}`,
  }));
  return readFile(join(directory, 'namespace'), 'utf8').then(
    (namespace) => ({
      server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
      credentials,
      namespace: namespace.trim(),
    }),
    (cause: unknown) => {
      throw new ConfigurationError(`can not read the pod's service account in ${directory}`, { cause });
    },
  );
}

export async function loadKubeconfig(
  path: string,
  contextName?: string,
  clock: Clock = systemClock,
): Promise<ConnectionOptions> {
  const text = await readPem(path);
  const config = await parseKubeconfig(text, path, contextName);
  const directory = dirname(resolve(path));
  const { cluster, user, context } = config;
  const ca = pem(cluster['certificate-authority-data'], cluster['certificate-authority'], directory);
  const credentials = needsPlugin(user)
    ? pluginCredentials(text, config.contextName, clock)
    : refreshed(clock, async () => ({
        ca: await ca(),
        ...(await fileCredentials(user, directory)),
      }));
  return {
    server: cluster.server,
    credentials,
    serverName: cluster['tls-server-name'],
    insecureSkipTlsVerify: cluster['insecure-skip-tls-verify'],
    namespace: context.namespace,
  };
}

const needsPlugin = (user: NamedUser): boolean =>
  user.exec !== undefined || user['auth-provider'] !== undefined;

async function fileCredentials(user: NamedUser, directory: string): Promise<Credentials> {
  const cert = await pem(user['client-certificate-data'], user['client-certificate'], directory)();
  const key = await pem(user['client-key-data'], user['client-key'], directory)();
  const token =
    user.tokenFile === undefined ? user.token : (await readPem(resolve(directory, user.tokenFile))).trim();
  const groups = user['as-groups'] ?? [];
  return {
    cert,
    key,
    authorization: authorization(token, user),
    ...(user.as === undefined ? {} : { impersonate: { user: user.as, groups } }),
  };
}

function authorization(token: string | undefined, user: NamedUser): string | undefined {
  if (token !== undefined && token !== '') return `Bearer ${token}`;
  if (user.username === undefined) return undefined;
  return `Basic ${Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64')}`;
}

/** Reads inline data (base64) or a file; neither is fine. */
function pem(
  data: string | undefined,
  file: string | undefined,
  directory: string,
): () => Promise<string | undefined> {
  if (data !== undefined && data !== '') {
    const decoded = Buffer.from(data, 'base64').toString();
    return () => Promise.resolve(decoded);
  }
  if (file === undefined || file === '') return () => Promise.resolve(undefined);
  return () => readPem(resolve(directory, file));
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ConfigurationError(`can not read ${path}`, { cause });
  }
}

/** Calls `load` at most once a minute, and hands out the same object while nothing changed. */
function refreshed(clock: Clock, load: () => Promise<Credentials>): () => Promise<Credentials> {
  let last: { credentials: Credentials; text: string; at: number } | undefined;
  let loading: Promise<Credentials> | undefined;
  const reload = async (): Promise<Credentials> => {
    const credentials = await load();
    const text = JSON.stringify(credentials);
    const same = last?.text === text ? last.credentials : credentials;
    last = { credentials: same, text, at: clock.monotonic() };
    return same;
  };
  return () => {
    if (last !== undefined && clock.monotonic() - last.at < rereadAfter)
      return Promise.resolve(last.credentials);
    loading ??= reload().finally(() => {
      loading = undefined;
    });
    return loading;
  };
}

/** Credential plugins are client-node's business. It costs 1.4 s and 118 MB, so it is loaded only for them. */
function pluginCredentials(text: string, context: string, clock: Clock): () => Promise<Credentials> {
  let config: Promise<KubeConfig> | undefined;
  const load = async (): Promise<KubeConfig> => {
    const { KubeConfig } = await import('@kubernetes/client-node');
    const loaded = new KubeConfig();
    loaded.loadFromString(text);
    loaded.setCurrentContext(context);
    return loaded;
  };
  return refreshed(clock, async () => {
    config ??= load();
    const options: RequestOptions = {};
    await (await config).applyToHTTPSOptions(options);
    const headers = options.headers;
    const value =
      headers !== undefined && !Array.isArray(headers) && 'Authorization' in headers
        ? headers.Authorization
        : undefined;
    return {
      ca: asText(options.ca),
      cert: asText(options.cert),
      key: asText(options.key),
      authorization: typeof value === 'string' ? value : undefined,
    };
  });
}

const asText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : Buffer.isBuffer(value) ? value.toString() : undefined;
