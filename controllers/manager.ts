/** Runs a selection of controllers in one process, over shared informers. */
import type { Registry } from 'prom-client';
import { createCertificatesController } from './certificates/certificates-controller.js';
import type { ControllerDependencies } from './dependencies.js';
import { createDisruptionController } from './disruption/disruption-controller.js';
import { createDisruptionBudgetController } from './disruption-budget/disruption-budget-controller.js';
import { createEvacuationController } from './evacuation/evacuation-controller.js';
import { createGarbageCollector } from './garbage-collector/garbage-collector.js';
import { createKubeVirtController, type Installation } from './kubevirt/kubevirt-controller.js';
import { registerMachineMetrics } from './metrics/machine-metrics.js';
import { createNamespaceController } from './namespace/namespace-controller.js';
import { createNodeController } from './node/node-controller.js';
import { createNodeLifecycleController } from './node-lifecycle/node-lifecycle-controller.js';
import { createPersistentVolumeController } from './persistent-volume/persistent-volume-controller.js';
import { createPodGarbageController } from './pod-gc/pod-gc-controller.js';
import { createPoolController } from './pool/pool-controller.js';
import { keptOf } from './projections.js';
import { createReplicaSetController } from './replica-set/replica-set-controller.js';
import type { Client } from './runtime/client.js';
import { systemClock, type Clock } from './runtime/clock.js';
import { limitAsConfigured, logAsConfigured } from './runtime/configuration.js';
import type { ControllerMetrics, Runnable } from './runtime/controller.js';
import type { Discovery } from './runtime/discovery.js';
import { ClientEventRecorder, type EventRecorder } from './runtime/event-recorder.js';
import { Informers } from './runtime/informers.js';
import { runWithLeadership } from './runtime/leader-election.js';
import {
  kubeVirts,
  podDisruptionBudgets,
  pods,
  virtualMachineInstances,
  virtualMachines,
} from './runtime/kinds.js';
import type { Logger, SetVerbosity } from './runtime/logger.js';
import type { RateLimiterOptions } from './runtime/rate-limiter.js';
import { PrometheusReflectorMetrics } from './runtime/prometheus-metrics.js';
import { RequestRate, rateLimited } from './runtime/request-rate.js';
import { sharedSignal } from './runtime/signals.js';
import { createSchedulerController } from './scheduler/scheduler.js';
import { ControllerSelectionError, selectControllers } from './selection.js';
import {
  createVirtualMachineInstanceController,
  type LauncherImage,
} from './virtual-machine-instance/virtual-machine-instance-controller.js';
import { createTaintEvictionController } from './taint-eviction/taint-eviction-controller.js';
import { createTopologyController } from './topology/topology-controller.js';
import { createVirtualMachineController } from './virtual-machine/virtual-machine-controller.js';
import { createWorkloadUpdater } from './workload-updater/workload-updater.js';

/** Those that KubeVirt's users need anywhere. */
export const clusterControllers = [
  'virtual-machine',
  'virtual-machine-instance',
  'replica-set',
  'pool',
  'node',
  'disruption-budget',
  'evacuation',
  'workload-updater',
  'topology',
] as const;
/** Those that a Kubernetes cluster has already. */
const standaloneControllers = [
  'scheduler',
  'garbage-collector',
  'namespace',
  'persistent-volume',
  'pod-gc',
  'node-lifecycle',
  'taint-eviction',
  'disruption',
] as const;

/** Of an installation in a cluster. */
const certificatesController = 'certificates';
const kubeVirtController = 'kubevirt';

export const controllerNames = [
  ...clusterControllers,
  ...standaloneControllers,
  certificatesController,
  kubeVirtController,
] as const;
export type ControllerName = (typeof controllerNames)[number];

export interface ControllerManagerOptions {
  readonly client: Client;
  readonly discovery: Discovery;
  readonly logger: Logger;
  /** Of `logger`. */
  readonly setVerbosity?: SetVerbosity;
  /** As for `selectControllers`; `*` if absent. */
  readonly controllers?: string;
  readonly launcher: LauncherImage;
  /** Present if no Kubernetes lies beneath: then the standalone controllers may be chosen too. */
  readonly standalone?: {
    /** Absolute: one directory in it for each persistent volume. */
    readonly volumeDirectory: string;
  };
  /** Present if the certificates of the installation are kept in Secrets: then that controller may be chosen too. */
  readonly certificates?: { readonly namespace: string };
  /** Present if the KubeVirt object is kept: then that controller may be chosen too. */
  readonly installation?: Installation;
  /** Absent: this process is the only one. */
  readonly leaderElection?: { readonly namespace: string; readonly identity: string };
  /** How fast failures are tried again, for each controller; 10 a second and 100 at once if absent. */
  readonly limits?: RateLimiterOptions | undefined;
  readonly metrics?: ControllerMetrics;
  /** Where metrics of the machines are registered. */
  readonly registry?: Registry;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export interface ControllerManager extends Runnable {
  readonly controllers: readonly ControllerName[];
  /** Whether the controllers run here, and not in another process that leads. */
  leads(): boolean;
}

/** Rejects if leadership is lost: the process should then end and start anew. */
export function createControllerManager(options: ControllerManagerOptions): ControllerManager {
  const { standalone, leaderElection, client, logger, clock = systemClock, random = Math.random } = options;
  const known: readonly ControllerName[] = [
    ...clusterControllers,
    ...(standalone === undefined ? [] : standaloneControllers),
    ...(options.certificates === undefined ? [] : ([certificatesController] as const)),
    ...(options.installation === undefined ? [] : ([kubeVirtController] as const)),
  ];
  const controllers = selectControllers<ControllerName>(options.controllers ?? '*', known);
  let leads = false;
  const lead = async (signal: AbortSignal, leader: Client): Promise<void> => {
    leads = true;
    try {
      await runControllers({ ...options, client: leader }, controllers, signal);
    } finally {
      leads = false;
    }
  };
  return {
    controllers,
    leads: () => leads,
    run: async (signal) => {
      if (controllers.length === 0) return;
      if (leaderElection === undefined) return lead(signal, client);
      const { namespace, identity } = leaderElection;
      const lease = { namespace, name: 'nativirt-controllers' };
      const end = await runWithLeadership({ client, logger, lease, identity, clock, random }, lead, signal);
      if (end === 'lost') throw new Error('another process leads the controllers now');
    },
  };
}

async function runControllers(
  options: ControllerManagerOptions,
  names: readonly ControllerName[],
  signal: AbortSignal,
): Promise<void> {
  const { logger, setVerbosity, limits, metrics, clock = systemClock, random = Math.random } = options;
  const rate = new RequestRate(clock);
  const client = rateLimited(options.client, rate);
  const informers = new Informers({
    client,
    logger,
    clock,
    random,
    keep: keptOf,
    // Standalone's scheduler sees every pod and its budgets.
    whole: names.includes('scheduler') ? [pods, podDisruptionBudgets] : [],
    metrics: options.registry === undefined ? undefined : new PrometheusReflectorMetrics(options.registry),
  });
  const kubeVirtInformer = informers.get(kubeVirts);
  limitAsConfigured(rate, kubeVirtInformer, 'controllerConfiguration');
  if (setVerbosity !== undefined)
    logAsConfigured(setVerbosity, kubeVirtInformer, ({ virtController }) => virtController);
  const recorders = new Map<string, ClientEventRecorder>();
  const recorder = (component: string): EventRecorder => {
    const existing =
      recorders.get(component) ?? new ClientEventRecorder({ client, component, logger, clock });
    recorders.set(component, existing);
    return existing;
  };
  if (options.registry !== undefined)
    registerMachineMetrics(options.registry, {
      machines: informers.get(virtualMachines),
      instances: informers.get(virtualMachineInstances),
    });
  const deps: ControllerDependencies = {
    client,
    informers,
    logger,
    clock,
    random,
    recorder,
    limits,
    metrics,
  };
  const running = names.map((name) => create(name, deps, options));
  logger.info({ controllers: names }, 'controllers started');
  // One that fails for good takes the others with it: half a control plane helps nobody.
  const failed = new AbortController();
  const both = sharedSignal(AbortSignal.any([signal, failed.signal]));
  const guarded = [informers, ...running, ...recorders.values()].map(async (each) => {
    try {
      await each.run(both);
    } catch (error) {
      failed.abort(error);
      throw error;
    }
  });
  const [first] = (await Promise.allSettled(guarded)).filter(({ status }) => status === 'rejected');
  if (first?.status === 'rejected') throw first.reason as Error;
}

function create(
  name: ControllerName,
  deps: ControllerDependencies,
  { launcher, discovery, standalone, certificates, installation }: ControllerManagerOptions,
): Runnable {
  switch (name) {
    case 'virtual-machine':
      return createVirtualMachineController(deps);
    case 'virtual-machine-instance':
      return createVirtualMachineInstanceController(deps, launcher);
    case 'replica-set':
      return createReplicaSetController(deps);
    case 'pool':
      return createPoolController(deps);
    case 'node':
      return createNodeController(deps);
    case 'disruption-budget':
      return createDisruptionBudgetController(deps);
    case 'evacuation':
      return createEvacuationController(deps);
    case 'workload-updater':
      return createWorkloadUpdater(deps, launcher.launcherImage);
    case 'topology':
      return createTopologyController(deps);
    case 'scheduler':
      return createSchedulerController(deps);
    case 'garbage-collector':
      return createGarbageCollector(deps, discovery);
    case 'namespace':
      return createNamespaceController(deps, discovery);
    case 'persistent-volume':
      if (standalone === undefined)
        throw new ControllerSelectionError('persistent-volume needs a directory for its volumes');
      return createPersistentVolumeController(deps, standalone.volumeDirectory);
    case 'pod-gc':
      return createPodGarbageController(deps);
    case 'node-lifecycle':
      return createNodeLifecycleController(deps);
    case 'taint-eviction':
      return createTaintEvictionController(deps);
    case 'disruption':
      return createDisruptionController(deps);
    case 'certificates':
      if (certificates === undefined)
        throw new ControllerSelectionError('certificates needs the namespace that its Secrets are in');
      return createCertificatesController(deps, certificates.namespace);
    case 'kubevirt':
      if (installation === undefined)
        throw new ControllerSelectionError('kubevirt needs the namespace that its object is in');
      return createKubeVirtController(deps, installation);
  }
}
