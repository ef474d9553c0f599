/** The agent of one node: everything that happens there for its virtual machines. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '../controllers/runtime/client.js';
import { systemClock, type Clock } from '../controllers/runtime/clock.js';
import type { ControllerMetrics, Runnable } from '../controllers/runtime/controller.js';
import { ClientEventRecorder } from '../controllers/runtime/event-recorder.js';
import type { Informer } from '../controllers/runtime/informer.js';
import { Informers } from '../controllers/runtime/informers.js';
import { nodes, pods, virtualMachineInstances } from '../controllers/runtime/kinds.js';
import type { Logger } from '../controllers/runtime/logger.js';
import { sharedSignal } from '../controllers/runtime/signals.js';
import type { KubernetesObject } from '../openapi/meta.js';
import { collectImages } from './images/garbage-collection.js';
import { ImagePuller, type PullerOptions } from './images/puller.js';
import { ImageStore } from './images/store.js';
import { readHostFacts } from './node/host-facts.js';
import { keepLease } from './node/node-lease.js';
import { NodeRegistration } from './node/node-registration.js';
import { PodDirectories } from './pod-directory.js';
import type { LauncherCommand } from './pod-runtime/launcher-process.js';
import { PodRuntime } from './pod-runtime/pod-runtime.js';
import { StreamServer, type StreamCredentials } from './streams/stream-server.js';
import { VirtualMachineInstanceAgent } from './virtual-machine-instance/virtual-machine-instance-agent.js';

export interface NodeAgentOptions {
  readonly client: Client;
  readonly nodeName: string;
  /** This agent's own: pods and images are kept here. */
  readonly dataDirectory: string;
  readonly launcher: LauncherCommand;
  readonly images: Pick<PullerOptions, 'layoutDirectories' | 'defaultRegistry' | 'registries'>;
  readonly streams: {
    readonly credentials: () => StreamCredentials;
    /** Where to listen, and the address that the Node tells. */
    readonly host: string;
    /** 0: any free port. */
    readonly port: number;
  };
  readonly version: string;
  /** True where no kubelet makes the Node: standalone. */
  readonly registerNode: boolean;
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly metrics?: ControllerMetrics;
}

export interface NodeAgentCounts {
  readonly pods: number;
  readonly launcherSessions: number;
  readonly streams: number;
  readonly images: number;
  readonly imageBytes: number;
}

export interface NodeAgent extends Runnable {
  /** Resolves once it listens and has seen its pods and VMIs. */
  readonly ready: Promise<void>;
  /** True from then on until it stops. */
  isReady(): boolean;
  /** For metrics. */
  counts(): NodeAgentCounts;
  /** Takes the stream server's credentials anew. */
  reload(): void;
}

/** Prepares the data directory. Rejects if that cannot be used. */
export async function createNodeAgent(options: NodeAgentOptions): Promise<NodeAgent> {
  const { dataDirectory, clock = systemClock } = options;
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const store = await ImageStore.open(join(dataDirectory, 'images'), () => clock.now());
  return new Agent(options, store);
}

class Agent implements NodeAgent {
  readonly ready: Promise<void>;
  private readonly clock: Clock;
  private readonly logger: Logger;
  private readonly informers: Informers;
  private readonly recorder: ClientEventRecorder;
  private readonly directories: PodDirectories;
  private readonly runtime: PodRuntime;
  private readonly instances: VirtualMachineInstanceAgent;
  private readonly streams: StreamServer;
  private readonly synced: readonly Informer<KubernetesObject>[];
  private resolveReady: () => void = () => undefined;
  private running = false;

  constructor(
    private readonly options: NodeAgentOptions,
    private readonly store: ImageStore,
  ) {
    const { client, nodeName, dataDirectory, random = Math.random, metrics } = options;
    this.clock = options.clock ?? systemClock;
    this.logger = options.logger.child({ node: nodeName });
    this.ready = new Promise((resolve) => (this.resolveReady = resolve));
    const { clock, logger } = this;
    this.informers = new Informers({ client, logger, clock, random });
    this.recorder = new ClientEventRecorder({
      client,
      component: 'node-agent',
      host: nodeName,
      logger,
      clock,
    });
    this.directories = new PodDirectories(join(dataDirectory, 'pods'));
    const { recorder, directories } = this;
    const podInformer = this.informers.get(pods, { fieldSelector: `spec.nodeName=${nodeName}` });
    const instanceInformer = this.informers.get(virtualMachineInstances, {
      fieldSelector: `status.nodeName=${nodeName}`,
    });
    this.synced = [podInformer, instanceInformer];
    const shared = { client, clock, logger, recorder, directories };
    this.runtime = new PodRuntime({
      ...shared,
      random,
      puller: new ImagePuller({ store, now: () => clock.now(), ...options.images }),
      launcher: options.launcher,
      address: options.streams.host,
      informer: podInformer,
    });
    this.instances = new VirtualMachineInstanceAgent({
      ...shared,
      nodeName,
      informer: instanceInformer,
      node: { launcherVersion: options.version, runtimeUser: process.getuid?.() ?? 0 },
      metrics,
    });
    this.streams = new StreamServer({
      ...options.streams,
      nodeName,
      informer: instanceInformer,
      directories,
      clock,
      logger,
    });
  }

  isReady(): boolean {
    return this.running && this.synced.every(({ hasSynced }) => hasSynced);
  }

  counts(): NodeAgentCounts {
    const images = this.store.list();
    return {
      pods: this.runtime.size,
      launcherSessions: this.instances.size,
      streams: this.streams.size,
      images: images.length,
      imageBytes: images.reduce((sum, { size }) => sum + size, 0),
    };
  }

  reload(): void {
    this.streams.reload();
  }

  /** Until the signal aborts. Rejects if the stream server's port cannot be had. Launchers and guests go on. */
  async run(stop: AbortSignal): Promise<void> {
    const signal = sharedSignal(stop);
    const { clock, logger } = this;
    const { client, nodeName, dataDirectory, streams } = this.options;
    const port = await this.streams.listen();
    this.running = true;
    logger.info({ address: streams.host, port }, 'the node agent listens');
    const registration = this.registration(port);
    const seen = Promise.all(this.synced.map((informer) => informer.synced(signal))).then(
      () => this.resolveReady(),
      () => undefined,
    );
    try {
      await Promise.all([
        this.informers.run(signal),
        this.recorder.run(signal),
        this.runtime.run(signal),
        this.instances.run(signal),
        registration.run(signal),
        ...(this.options.registerNode ? [keepLease({ client, clock, logger, nodeName }, signal)] : []),
        collectImages({ store: this.store, directory: dataDirectory, clock, logger }, signal),
        seen,
      ]);
    } finally {
      this.running = false;
      await this.streams.close();
    }
  }

  private registration(port: number): NodeRegistration {
    const { client, nodeName, dataDirectory, registerNode, streams, version } = this.options;
    const { clock, logger } = this;
    const host = streams.host.includes(':') ? `[${streams.host}]` : streams.host;
    return new NodeRegistration({
      client,
      clock,
      logger,
      informer: this.informers.get(nodes, { fieldSelector: `metadata.name=${nodeName}` }),
      registerNode,
      identity: { name: nodeName, address: streams.host, streamAddress: `${host}:${port}`, version },
      readFacts: () => readHostFacts(dataDirectory),
    });
  }
}
