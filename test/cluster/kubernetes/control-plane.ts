/** etcd, kube-apiserver and kube-controller-manager as a cluster has them, on loopback. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureCa, type CertificateAuthority } from '../../../apiserver/pki/authority.js';
import type { KeyPair } from '../../../apiserver/pki/key-pair.js';
import { kubeconfigFor } from '../../../apiserver/pki/kubeconfig.js';
import { tokens } from '../../apiserver/native-server.js';
import { requestOf } from '../../apiserver/test-server.js';
import type { Assets } from './assets.js';
import { freePort, startProgram, type Program } from './program.js';

export const serviceNamespace = 'kubevirt';
export const serviceName = 'nativirt-apiserver';

/** Those that the suites need. */
const controllers = [
  'clusterrole-aggregation-controller',
  'garbage-collector-controller',
  'horizontal-pod-autoscaler-controller',
  'namespace-controller',
  'resourcequota-controller',
  'serviceaccount-controller',
];

export class ControlPlane {
  readonly #programs: Program[] = [];
  #kubeApiserver: Program | undefined;

  private constructor(
    private readonly assets: Assets,
    readonly directory: string,
    /** Issues what everybody shows, and trusts. */
    readonly authority: CertificateAuthority,
    /** Of kube-apiserver. */
    readonly port: number,
    readonly etcdEndpoint: string,
  ) {}

  static async start(assets: Assets): Promise<ControlPlane> {
    const directory = await mkdtemp(path.join(tmpdir(), 'nativirt-kubernetes-'));
    const authority = await ensureCa(directory);
    const etcdEndpoint = `http://127.0.0.1:${await freePort()}`;
    const plane = new ControlPlane(assets, directory, authority, await freePort(), etcdEndpoint);
    try {
      await plane.#startEtcd();
      await plane.#startKubeApiserver();
    } catch (error) {
      await plane.stop();
      throw error;
    }
    return plane;
  }

  /** For a server: also as the service behind which kube-apiserver looks for ours. */
  issue(commonName: string, usage: 'client' | 'server', ...organizations: string[]): KeyPair {
    const names = {
      dnsNames: ['localhost', `${serviceName}.${serviceNamespace}.svc`],
      ips: ['127.0.0.1'],
    };
    return this.authority.issue({
      commonName,
      organizations,
      usages: [usage],
      days: 1,
      ...(usage === 'server' ? names : {}),
    });
  }

  /** Of a user with a client certificate. */
  kubeconfig(user: string, ...groups: string[]): string {
    return kubeconfigFor({
      server: `https://127.0.0.1:${this.port}`,
      ca: this.authority.cert,
      ...this.issue(user, 'client', ...groups),
    });
  }

  /** Writes into the directory; resolves with the path. */
  async file(name: string, text: string): Promise<string> {
    const target = path.join(this.directory, name);
    await writeFile(target, text, { mode: 0o600 });
    return target;
  }

  /** What kube-apiserver said last. */
  words(): string {
    return this.#kubeApiserver?.words() ?? '';
  }

  get hasControllers(): boolean {
    return this.assets.kubeControllerManager !== undefined;
  }

  async startControllers(): Promise<void> {
    const { kubeControllerManager } = this.assets;
    if (kubeControllerManager === undefined) return;
    const port = await freePort();
    const manager = this.#run(kubeControllerManager, [
      ...['--kubeconfig', await this.file('controllers.kubeconfig', this.kubeconfig('cm', 'system:masters'))],
      ...['--controllers', controllers.join(','), '--leader-elect=false'],
      ...['--service-account-private-key-file', path.join(this.directory, 'accounts.key')],
      ...['--root-ca-file', this.authorityFile, '--bind-address', '127.0.0.1', '--secure-port', `${port}`],
      ...(await this.#servingFlags('controllers')),
      ...['--horizontal-pod-autoscaler-sync-period', '1s', '--resource-quota-sync-period', '2s'],
    ]);
    await manager.ready('it was healthy', () => this.#answers(port, '/healthz'));
  }

  async stop(): Promise<void> {
    for (const program of this.#programs.reverse()) await program.stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  get authorityFile(): string {
    return path.join(this.directory, 'ca.crt');
  }

  #run(file: string, flags: readonly string[]): Program {
    const program = startProgram(file, flags);
    this.#programs.push(program);
    return program;
  }

  async #startEtcd(): Promise<void> {
    const peer = `http://127.0.0.1:${await freePort()}`;
    const etcd = this.#run(this.assets.etcd, [
      ...['--data-dir', path.join(this.directory, 'etcd'), '--log-level', 'warn'],
      ...['--listen-client-urls', this.etcdEndpoint, '--advertise-client-urls', this.etcdEndpoint],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      ...['--initial-cluster', `default=${peer}`],
    ]);
    await etcd.ready('it was healthy', async () => {
      const answer = await fetch(`${this.etcdEndpoint}/health`).catch(() => undefined);
      return answer?.ok === true;
    });
  }

  async #startKubeApiserver(): Promise<void> {
    const { port, directory } = this;
    const proxies = await ensureCa(directory, { name: 'front-proxy-ca', commonName: 'front-proxy-ca' });
    const proxy = proxies.issue({ commonName: 'front-proxy-client', usages: ['client'], days: 1 });
    const pem = { type: 'pkcs8', format: 'pem' } as const;
    const account = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await this.file('accounts.key', account.privateKey.export(pem).toString());
    this.#kubeApiserver = this.#run(this.assets.kubeApiserver, [
      ...['--etcd-servers', this.etcdEndpoint, '--bind-address', '127.0.0.1', '--secure-port', `${port}`],
      ...(await this.#servingFlags('kube-apiserver')),
      ...['--endpoint-reconciler-type', 'none', '--service-cluster-ip-range', '10.96.0.0/24'],
      ...['--client-ca-file', this.authorityFile, '--authorization-mode', 'RBAC'],
      ...['--token-auth-file', await this.file('tokens.csv', tokens)],
      ...['--service-account-issuer', 'https://kubernetes.default.svc'],
      ...['--service-account-signing-key-file', path.join(directory, 'accounts.key')],
      ...['--service-account-key-file', path.join(directory, 'accounts.key')],
      ...['--requestheader-client-ca-file', path.join(directory, 'front-proxy-ca.crt')],
      ...['--requestheader-allowed-names', 'front-proxy-client'],
      ...['--requestheader-username-headers', 'X-Remote-User'],
      ...['--requestheader-group-headers', 'X-Remote-Group'],
      ...['--requestheader-extra-headers-prefix', 'X-Remote-Extra-'],
      ...['--proxy-client-cert-file', await this.file('front-proxy-client.crt', proxy.cert)],
      ...['--proxy-client-key-file', await this.file('front-proxy-client.key', proxy.key)],
    ]);
    await this.#kubeApiserver.ready('it was ready', () => this.#answers(port, '/readyz'), 300);
  }

  async #servingFlags(name: string): Promise<readonly string[]> {
    const { cert, key } = this.issue(name, 'server');
    return [
      ...['--tls-cert-file', await this.file(`${name}.crt`, cert)],
      ...['--tls-private-key-file', await this.file(`${name}.key`, key)],
    ];
  }

  async #answers(port: number, at: string): Promise<boolean> {
    const request = requestOf({ port, ca: this.authority.cert });
    const answer = await request('GET', at, { token: 'admin' }).catch(() => undefined);
    return answer?.status === 200;
  }
}
