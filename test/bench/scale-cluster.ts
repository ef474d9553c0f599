/** What `scale` runs on: an API server, controllers and nodes, each as it is elsewhere but for the launchers. */
import path from 'node:path';
import { pino, type Logger } from 'pino';
import { kubeconfigFor } from '../../apiserver/pki/kubeconfig.js';
import { writeSecretFile } from '../../apiserver/pki/files.js';
import { ensureCa, type CertificateAuthority } from '../../apiserver/pki/authority.js';
import type { KeyPair } from '../../apiserver/pki/key-pair.js';
import { createHttpClient, type HttpClient } from '../../controllers/runtime/http-client.js';
import { controllersUser, nodesGroup, nodeUser } from '../../deploy/standalone/identities.js';
import { ControllersProcess } from './scale-controllers-process.js';
import { StubNode } from './scale-nodes.js';
import { WriteCounter } from './scale-writes.js';
import { startServer, type BenchServer } from './server.js';

export class ScaleCluster {
  readonly counter: WriteCounter;
  #controllers: ControllersProcess;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #nodes = new Map<string, { lose(): void }>();

  private constructor(
    readonly server: BenchServer,
    private readonly authority: CertificateAuthority,
    private readonly kubeconfig: string,
    private readonly logger: Logger,
  ) {
    this.counter = new WriteCounter(
      this.#client(credentials(authority, 'admin', 'system:masters'), 'admin'),
      logger,
    );
    this.#running.push(this.counter.run(this.#stop.signal));
    this.#controllers = this.#startControllers();
  }

  static async start(): Promise<ScaleCluster> {
    const server = await startServer(['--controllers=']);
    const authority = await ensureCa(path.join(server.dataDirectory, 'pki'));
    const kubeconfig = path.join(server.dataDirectory, 'controllers.kubeconfig');
    const url = server.url.origin;
    const { cert, key } = credentials(authority, controllersUser);
    await writeSecretFile(
      kubeconfig,
      kubeconfigFor({ server: url, ca: authority.cert, cert, key, namespace: 'default' }),
    );
    return new ScaleCluster(server, authority, kubeconfig, pino({ level: 'error' }));
  }

  get controllers(): ControllersProcess {
    return this.#controllers;
  }

  addNode(name: string): void {
    let lost = false;
    const stop = new AbortController();
    const client = this.#client(
      credentials(this.authority, nodeUser(name), nodesGroup),
      nodeUser(name),
      () => lost,
    );
    const node = new StubNode(client, name, this.logger);
    this.#running.push(node.run(AbortSignal.any([this.#stop.signal, stop.signal])));
    this.#nodes.set(name, {
      lose: () => {
        lost = true;
        client.close();
        stop.abort();
      },
    });
  }

  /** From now on the node can not be heard. */
  loseNode(name: string): void {
    this.#nodes.get(name)?.lose();
  }

  async restartControllers(): Promise<void> {
    await this.#controllers.kill();
    this.#controllers = this.#startControllers();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
    await this.#controllers.kill();
    await this.server.stop();
  }

  #startControllers(): ControllersProcess {
    return new ControllersProcess(this.kubeconfig, path.join(this.server.dataDirectory, 'volumes'));
  }

  #client(pair: KeyPair, userAgent: string, isLost = (): boolean => false): HttpClient {
    const credentials = { ca: this.authority.cert, cert: pair.cert, key: pair.key };
    return createHttpClient({
      server: this.server.url.origin,
      credentials: () =>
        isLost() ? Promise.reject(new Error('this node is lost')) : Promise.resolve(credentials),
      userAgent,
      fieldManager: userAgent,
    });
  }
}

function credentials(
  authority: CertificateAuthority,
  commonName: string,
  ...organizations: string[]
): KeyPair {
  return authority.issue({ commonName, organizations, usages: ['client'], days: 1 });
}
