/**
 * A cluster around the aggregated API server: a core server that has namespaces, roles and reviews, a front proxy before both, and
 * `nativirt apiserver` as it is deployed.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { parseTokenFile } from '../../apiserver/authn/token-file.js';
import { ensureCa } from '../../apiserver/pki/authority.js';
import type { KeyPair } from '../../apiserver/pki/key-pair.js';
import { kubeconfigFor } from '../../apiserver/pki/kubeconfig.js';
import { startApiserver, type Apiserver } from '../../deploy/apiserver/apiserver.js';
import { parseApiserverOptions } from '../../deploy/apiserver/options.js';
import { startNativeServer, tokens, type NativeServer } from '../apiserver/native-server.js';
import { startFrontProxy, type FrontProxy } from './front-proxy.js';
import { registrationKinds } from './registration-kinds.js';

/** What `nativirt apiserver` finds in a cluster. */
export interface Surroundings {
  readonly core: NativeServer;
  /** PEM: who issued the certificates of all servers, and of clients. */
  readonly ca: string;
  /** Flags of `nativirt apiserver`, besides those of its store. */
  readonly apiserverFlags: readonly string[];
  /** Holds what the flags name, and is removed at the end. */
  readonly directory: string;
  issue(commonName: string, usage: 'client' | 'server', ...organizations: string[]): KeyPair;
  /** A front proxy before the core server and an API server. */
  proxyTo(port: number): Promise<FrontProxy>;
  close(): Promise<void>;
}

export interface TestCluster {
  /** Of the front proxy. */
  readonly port: number;
  /** PEM. */
  readonly ca: string;
  readonly core: NativeServer;
  readonly apiserver: Apiserver;
  close(): Promise<void>;
}

const admin = { name: 'admin', groups: ['system:masters'], extra: {} };

export async function startSurroundings(): Promise<Surroundings> {
  const directory = await mkdtemp(path.join(tmpdir(), 'nativirt-cluster-'));
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(path.join(directory, name), text);
    return path.join(directory, name);
  };
  const core = await startNativeServer({ resources: registrationKinds });
  const proxies = await ensureCa(directory, { name: 'front-proxy-ca', commonName: 'front-proxy-ca' });
  await core.registry.create(
    { group: '', resource: 'configmaps', namespace: 'kube-system' },
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
      data: {
        'client-ca-file': core.authority.cert,
        'requestheader-client-ca-file': proxies.cert,
        'requestheader-allowed-names': '["front-proxy-client"]',
        'requestheader-username-headers': '["X-Remote-User"]',
        'requestheader-group-headers': '["X-Remote-Group"]',
        'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      },
    } as Parameters<typeof core.registry.create>[1],
    { user: admin },
  );
  const issue = (commonName: string, usage: 'client' | 'server', ...organizations: string[]): KeyPair =>
    core.authority.issue({
      commonName,
      organizations,
      usages: [usage],
      days: 1,
      ...(usage === 'server' ? { dnsNames: ['localhost'], ips: ['127.0.0.1'] } : {}),
    });
  const files = async (name: string, pair: KeyPair): Promise<readonly [string, string]> => [
    await file(`${name}.crt`, pair.cert),
    await file(`${name}.key`, pair.key),
  ];
  const [servingCert, servingKey] = await files('serving', issue('nativirt-apiserver', 'server'));
  const [agentCert, agentKey] = await files('agents', issue('nativirt:apiserver', 'client'));
  const kubeconfig = kubeconfigFor({
    server: `https://127.0.0.1:${core.port}`,
    ca: core.authority.cert,
    ...issue('nativirt-apiserver', 'client', 'system:masters'),
    namespace: 'kubevirt',
  });
  const apiserverFlags = [
    ...['--bind-address', '127.0.0.1', '--secure-port', '0'],
    ...['--tls-cert-file', servingCert, '--tls-private-key-file', servingKey],
    ...['--kubeconfig', await file('kubeconfig', kubeconfig)],
    ...['--node-agent-certificate-authority', await file('ca.crt.copy', core.authority.cert)],
    ...['--node-agent-client-certificate', agentCert, '--node-agent-client-key', agentKey],
  ];
  return {
    core,
    ca: core.authority.cert,
    apiserverFlags,
    directory,
    issue,
    proxyTo: (port) =>
      startFrontProxy({
        serving: issue('kubernetes', 'server'),
        users: parseTokenFile(tokens, 'tokens'),
        core: { port: core.port, ca: core.authority.cert },
        aggregated: { port, ca: core.authority.cert },
        proxyClient: proxies.issue({ commonName: 'front-proxy-client', usages: ['client'], days: 1 }),
      }),
    async close() {
      await core.close();
      await rm(directory, { recursive: true });
    },
  };
}

/** An API server in this process. */
export async function startReplica(
  { apiserverFlags }: Surroundings,
  storeFlags: readonly string[],
): Promise<Apiserver> {
  const options = parseApiserverOptions([...apiserverFlags, ...storeFlags]);
  if (options === undefined) throw new Error('no flag asks for help');
  const apiserver = await startApiserver(options, pino({ level: process.env.LOG_LEVEL ?? 'silent' }));
  await apiserver.ready;
  return apiserver;
}

/** @param storeFlags of `nativirt apiserver`; a store in a directory of its own if absent. */
export async function startCluster(storeFlags?: readonly string[]): Promise<TestCluster> {
  const surroundings = await startSurroundings();
  const { core, ca, directory } = surroundings;
  const apiserver = await startReplica(
    surroundings,
    storeFlags ?? ['--data-dir', path.join(directory, 'store')],
  );
  const proxy = await surroundings.proxyTo(apiserver.port);
  return {
    port: proxy.port,
    ca,
    core,
    apiserver,
    async close() {
      await proxy.close();
      await apiserver.stop();
      await surroundings.close();
    },
  };
}
