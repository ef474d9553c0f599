/** The agent of one node: everything that happens there for its virtual machines. */
import type { Client } from '../controllers/runtime/client.js';
import { systemClock, type Clock } from '../controllers/runtime/clock.js';
import { limitAsConfigured, logAsConfigured } from '../controllers/runtime/configuration.js';
import type { ControllerMetrics, Runnable } from '../controllers/runtime/controller.js';
import { ClientEventRecorder } from '../controllers/runtime/event-recorder.js';
import type { Informer } from '../controllers/runtime/informer.js';
import { Informers } from '../controllers/runtime/informers.js';
import { kubeVirts, nodes, virtualMachineInstances } from '../controllers/runtime/kinds.js';
import type { Logger, SetVerbosity } from '../controllers/runtime/logger.js';
import { RequestRate, rateLimited } from '../controllers/runtime/request-rate.js';
import { sharedSignal } from '../controllers/runtime/signals.js';
import type { VirtualMachineInstance } from '../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject } from '../openapi/meta.js';
import type { KubeletPodsOptions } from './kubelet/kubelet-pod-host.js';
import type { MeasureMachines } from './metrics/guest-statistics.js';
import { readHostFacts } from './node/host-facts.js';
import { keepLease } from './node/node-lease.js';
import { NodeRegistration } from './node/node-registration.js';
import type { PodHost, PodHostContext, PodHostCounts } from './pod-host.js';
import type { ProcessPodsOptions } from './pod-runtime/process-pod-host.js';
import { StreamServer, type StreamCredentials } from './streams/stream-server.js';
import { untilAll } from './until-all.js';
import { isFinalPhase } from './virtual-machine-instance/status.js';
import { VirtualMachineInstanceAgent } from './virtual-machine-instance/virtual-machine-instance-agent.js';

export interface NodeAgentOptions {
  readonly client: Client;
  readonly nodeName: string;
  /** `processes`: this agent is kubelet too, and makes the Node. `kubelet`: the cluster's runs beside it. */
  readonly pods:
    | ({ readonly kind: 'processes' } & ProcessPodsOptions)
    | ({ readonly kind: 'kubelet' } & KubeletPodsOptions);
  readonly streams: {
    readonly credentials: () => StreamCredentials;
    /** Where to listen, and the address that the Node tells. */
    readonly host: string;
    /** 0: any free port. */
    readonly port: number;
  };
  readonly version: string;
  readonly logger: Logger;
  /** Of `logger`. */
  readonly setVerbosity?: SetVerbosity;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly metrics?: ControllerMetrics;
}

export interface NodeAgentCounts extends PodHostCounts {
  readonly launcherSessions: number;
  readonly streams: number;
}

export interface NodeAgent extends Runnable {
  /** Resolves once it listens and has seen its pods and VMIs. */
  readonly ready: Promise<void>;
  /** True from then on until it stops. */
  isReady(): boolean;
  /** For metrics. */
  counts(): NodeAgentCounts;
  /** What the machines on the node count, for metrics. */
  measure: MeasureMachines;
  /** The machine shuts down: says so, and ends the guests within so many milliseconds where it runs their pods. Call it while it runs. */
  shutDown(milliseconds: number): Promise<void>;
  /** Takes the stream server's credentials anew. */
  reload(): void;
}

/** Prepares what it keeps on disk. Rejects if that cannot be used. */
export async function createNodeAgent(options: NodeAgentOptions): Promise<NodeAgent> {
  return new Agent(options, await podHostOf(options));
}

/** Either is loaded only where it is used: images and volumes are much code for an agent that leaves them to a kubelet. */
async function podHostOf({
  pods,
  clock = systemClock,
}: NodeAgentOptions): Promise<(context: PodHostContext) => PodHost> {
  if (pods.kind === 'kubelet') {
    const { kubeletPodHost } = await import('./kubelet/kubelet-pod-host.js');
    return (context) => kubeletPodHost(pods, context);
  }
  const { openProcessPods } = await import('./pod-runtime/process-pod-host.js');
  return openProcessPods(pods, clock);
}

/** Milliseconds that it may take to tell how guests have ended. */
const reportTimeout = 5000;

class Agent implements NodeAgent {
  readonly ready: Promise<void>;
  private readonly clock: Clock;
  private readonly logger: Logger;
  /** Of what the agent needs for its Node, which must not wait behind the requests of its machines. */
  private readonly nodeInformers: Informers;
  private readonly informers: Informers;
  private readonly recorder: ClientEventRecorder;
  private readonly host: PodHost;
  private readonly instances: VirtualMachineInstanceAgent;
  private readonly streams: StreamServer;
  private readonly synced: readonly Informer<KubernetesObject>[];
  private resolveReady: () => void = () => undefined;
  private running = false;
  private readonly instanceInformer: Informer<VirtualMachineInstance>;
  private node: NodeRegistration | undefined;

  constructor(
    private readonly options: NodeAgentOptions,
    hostOf: (context: PodHostContext) => PodHost,
  ) {
    const { nodeName, random = Math.random, metrics, setVerbosity } = options;
    this.clock = options.clock ?? systemClock;
    this.logger = options.logger.child({ node: nodeName });
    this.ready = new Promise((resolve) => (this.resolveReady = resolve));
    const { clock, logger } = this;
    const rate = new RequestRate(clock);
    const client = rateLimited(options.client, rate);
    this.nodeInformers = new Informers({ client: options.client, logger, clock, random });
    this.informers = new Informers({ client, logger, clock, random });
    const kubeVirtInformer = this.nodeInformers.get(kubeVirts);
    limitAsConfigured(rate, kubeVirtInformer, 'handlerConfiguration');
    if (setVerbosity !== undefined)
      logAsConfigured(
        setVerbosity,
        kubeVirtInformer,
        ({ nodeVerbosity, virtHandler }) => nodeVerbosity?.[nodeName] ?? virtHandler,
      );
    this.recorder = new ClientEventRecorder({
      client,
      component: 'node-agent',
      host: nodeName,
      logger,
      clock,
    });
    const { informers, recorder } = this;
    const shared = { client, clock, logger, recorder, nodeName };
    this.host = hostOf({ ...shared, informers, kubeVirtInformer, random, address: options.streams.host });
    const { directories, runtimeUser } = this.host;
    const instanceInformer = (this.instanceInformer = informers.get(virtualMachineInstances, {
      fieldSelector: `status.nodeName=${nodeName}`,
    }));
    this.synced = [...this.host.informers, instanceInformer];
    this.instances = new VirtualMachineInstanceAgent({
      ...shared,
      directories,
      informer: instanceInformer,
      kubeVirtInformer,
      prepare: (vmi, pod, signal) => this.host.prepare(vmi, pod, signal),
      probes: this.host.probes,
      node: { launcherVersion: options.version, runtimeUser },
      nodeShutsDown: () => this.node?.shutsDown === true,
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
    return {
      ...this.host.counts(),
      launcherSessions: this.instances.size,
      streams: this.streams.size,
    };
  }

  measure(): ReturnType<MeasureMachines> {
    return this.instances.measure();
  }

  async shutDown(milliseconds: number): Promise<void> {
    this.logger.info({ milliseconds }, 'the node shuts down');
    await this.node?.shutDown();
    await this.host.shutDown?.(milliseconds);
    const told = ({ status }: VirtualMachineInstance): boolean => isFinalPhase(status?.phase);
    await untilAll(this.instanceInformer, told, this.clock, reportTimeout);
  }

  reload(): void {
    this.streams.reload();
  }

  /** Until the signal aborts. Rejects if the stream server's port cannot be had. Launchers and guests go on. */
  async run(stop: AbortSignal): Promise<void> {
    const signal = sharedSignal(stop);
    const { clock, logger } = this;
    const { client, nodeName, streams, pods } = this.options;
    const port = await this.streams.listen();
    this.running = true;
    logger.info({ address: streams.host, port }, 'the node agent listens');
    const registration = this.registration(port);
    this.node = registration;
    const seen = Promise.all(this.synced.map((informer) => informer.synced(signal))).then(
      () => this.resolveReady(),
      () => undefined,
    );
    try {
      await Promise.all([
        this.nodeInformers.run(signal),
        this.informers.run(signal),
        this.recorder.run(signal),
        this.host.run(signal),
        this.instances.run(signal),
        registration.run(signal),
        ...(pods.kind === 'processes' ? [keepLease({ client, clock, logger, nodeName }, signal)] : []),
        seen,
      ]);
    } finally {
      this.running = false;
      await this.streams.close();
    }
  }

  private registration(port: number): NodeRegistration {
    const { client, nodeName, pods, streams, version } = this.options;
    const { clock, logger, host } = this;
    const address = streams.host.includes(':') ? `[${streams.host}]` : streams.host;
    return new NodeRegistration({
      client,
      clock,
      logger,
      informer: this.nodeInformers.get(nodes, { fieldSelector: `metadata.name=${nodeName}` }),
      kubeVirtInformer: this.nodeInformers.get(kubeVirts),
      registerNode: pods.kind === 'processes',
      identity: { name: nodeName, address: streams.host, streamAddress: `${address}:${port}`, version },
      readFacts: () => readHostFacts(host.storage),
    });
  }
}
