/**
 * Brings the VMIs of this node to life: hands each to its launcher, tells in the VMI's status what the launcher says, and
 * ends guests whose VMI is being deleted. Takes over at phase Scheduled, and is done at Succeeded or Failed. Finalizers are
 * the VMI controller's.
 */
import type { KubeVirt, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { finalStates, type DomainState, type DomainStatus } from '../../openapi/launcher/protocol.js';
import type { MachineSettings } from '../../openapi/launcher/settings.js';
import type { Client } from '../../controllers/runtime/client.js';
import type { Clock } from '../../controllers/runtime/clock.js';
import { kubeVirtFrom } from '../../controllers/runtime/configuration.js';
import {
  Controller,
  type ControllerMetrics,
  type ReconcileResult,
} from '../../controllers/runtime/controller.js';
import { isNotFound } from '../../controllers/runtime/errors.js';
import type { EventRecorder } from '../../controllers/runtime/event-recorder.js';
import type { Informer } from '../../controllers/runtime/informer.js';
import { virtualMachineInstances } from '../../controllers/runtime/kinds.js';
import type { Logger } from '../../controllers/runtime/logger.js';
import { isOlder, keyOf } from '../../controllers/runtime/object-key.js';
import { patchStatus } from '../../controllers/runtime/writes.js';
import type { LauncherDirectories } from '../launcher-directory.js';
import { LauncherSession, type NodePart, type SessionView } from '../launcher-session.js';
import type { MeasuredMachine } from '../metrics/guest-statistics.js';
import type { PodHost } from '../pod-host.js';
import { recordTransition } from './events.js';
import { machineSettings } from './machine-settings.js';
import { failureOf, isFinalPhase, nextStatus, type Failure, type NodeFacts } from './status.js';

export interface VirtualMachineInstanceAgentOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly nodeName: string;
  readonly directories: LauncherDirectories;
  readonly prepare: PodHost['prepare'];
  /** Undefined where nobody probes guests: they are ready as soon as they run. */
  readonly probes?: PodHost['probes'];
  /** VMIs with `status.nodeName` of this node. */
  readonly informer: Informer<VirtualMachineInstance>;
  /** What is configured, for machines that start. */
  readonly kubeVirtInformer: Informer<KubeVirt>;
  readonly node: NodeFacts;
  /** The machine shuts down; never if absent. */
  readonly nodeShutsDown?: () => boolean;
  readonly metrics?: ControllerMetrics | undefined;
}

/** Seconds, where the VMI says nothing. */
const defaultGracePeriod = 30;
const prepareAgainMilliseconds = 500;
/** Less than the scrape interval's usual timeout. */
const measureMilliseconds = 5000;
const countingStates: ReadonlySet<DomainState> = new Set(['Running', 'Paused', 'ShuttingDown']);

interface Entry {
  readonly session: LauncherSession;
  readonly vmi: string;
  readonly pod: string;
  /** Once the node has done its part for the pod. */
  part: NodePart | undefined;
}

export class VirtualMachineInstanceAgent {
  private readonly controller: Controller;
  private readonly sessions = new Map<string, Entry>();
  /** By key, the resourceVersion of our newest write, while the informer has not seen it. */
  private readonly written = new Map<string, string>();

  constructor(private readonly options: VirtualMachineInstanceAgentOptions) {
    const { clock, logger, informer, kubeVirtInformer, metrics } = options;
    this.controller = new Controller({
      name: 'virtual-machine-instance',
      informers: [informer, kubeVirtInformer],
      reconcile: (key, signal) => this.reconcile(key, signal),
      clock,
      logger,
      metrics,
    });
  }

  /** Launchers that this agent is connected to, or tries to be. */
  get size(): number {
    return this.sessions.size;
  }

  /** Until the signal aborts; guests go on running. */
  async run(signal: AbortSignal): Promise<void> {
    const enqueue = (vmi: VirtualMachineInstance): void => {
      this.controller.enqueue(keyOf(vmi.metadata));
    };
    const remove = this.options.informer.addHandler({
      add: enqueue,
      update: (_before, vmi) => enqueue(vmi),
      delete: enqueue,
    });
    const ignore = this.options.probes?.onChange((pod) => {
      for (const [key, entry] of this.sessions) if (entry.pod === pod) this.controller.enqueue(key);
    });
    try {
      await this.controller.run(signal);
    } finally {
      remove();
      ignore?.();
      const sessions = [...this.sessions.values()].map(({ session }) => session);
      for (const key of [...this.sessions.keys()]) this.forget(key);
      await Promise.all(sessions.map(({ done }) => done));
    }
  }

  /** What the running machines count. One that does not answer in time is left out. */
  async measure(): Promise<MeasuredMachine[]> {
    const { informer, logger, nodeName: node } = this.options;
    const one = async (key: string, { session }: Entry): Promise<MeasuredMachine[]> => {
      const vmi = informer.get(key);
      const { view } = session;
      if (vmi === undefined || view.kind !== 'connected' || !countingStates.has(view.status.state)) return [];
      const { namespace = '', name } = vmi.metadata;
      try {
        const statistics = await session.statistics(AbortSignal.timeout(measureMilliseconds));
        return statistics === undefined ? [] : [{ node, namespace, name, statistics }];
      } catch (error) {
        logger.debug({ err: error, virtualMachineInstance: key }, 'a launcher told no statistics');
        return [];
      }
    };
    return (await Promise.all([...this.sessions].map((entry) => one(...entry)))).flat();
  }

  private async reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const vmi = this.options.informer.get(key);
    if (vmi === undefined) {
      this.forget(key);
      this.written.delete(key);
      return undefined;
    }
    const written = this.written.get(key);
    // The informer's event with our own write is on its way, and brings us back here.
    if (written !== undefined && isOlder(vmi.metadata.resourceVersion, written)) return undefined;
    this.written.delete(key);
    const pod = this.podOf(vmi);
    if (pod === undefined || !isOurs(vmi)) {
      this.forget(key);
      return undefined;
    }
    const entry = this.entry(key, vmi, pod);
    const { session } = entry;
    const { view } = session;
    if (view.kind === 'connecting') return undefined;
    const prepared =
      view.kind === 'connected' ? await this.command(vmi, entry, view.status.state, signal) : true;
    await this.write(key, vmi, entry, view, signal);
    return prepared ? undefined : { requeueAfter: prepareAgainMilliseconds };
  }

  /** UID of the launcher pod on this node. */
  private podOf({ status }: VirtualMachineInstance): string | undefined {
    const pods = Object.entries(status?.activePods ?? {});
    return pods.find(([, node]) => node === this.options.nodeName)?.[0];
  }

  private entry(key: string, vmi: VirtualMachineInstance, pod: string): Entry {
    const present = this.sessions.get(key);
    if (present?.vmi === vmi.metadata.uid && present.pod === pod) return present;
    this.forget(key);
    const { clock, logger, directories } = this.options;
    const session = new LauncherSession(directories.of(pod), {
      clock,
      logger: logger.child({ virtualMachineInstance: key }),
      onChange: () => {
        this.controller.enqueue(key);
      },
    });
    const entry: Entry = { session, vmi: vmi.metadata.uid, pod, part: undefined };
    this.sessions.set(key, entry);
    return entry;
  }

  private forget(key: string): void {
    this.sessions.get(key)?.session.close();
    this.sessions.delete(key);
  }

  /** Tells the launcher what to do. False: the node's part is not done yet. */
  private async command(
    vmi: VirtualMachineInstance,
    entry: Entry,
    state: DomainState,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (finalStates.includes(state)) return true;
    if (vmi.metadata.deletionTimestamp !== undefined) {
      this.shutdown(vmi, entry.session, state);
      return true;
    }
    // Also of a guest that an earlier agent has started: what of its network ended with that agent comes back.
    entry.part ??= await this.prepare(vmi, entry.pod, signal);
    if (entry.part !== undefined && state === 'Waiting')
      entry.session.start(vmi, this.settings(), entry.part);
    else if (countingStates.has(state)) entry.session.setLinks(vmi);
    return entry.part !== undefined;
  }

  private settings(): MachineSettings {
    return machineSettings(kubeVirtFrom(this.options.kubeVirtInformer)?.spec.configuration);
  }

  /** Undefined if it has to be tried again. */
  private async prepare(
    vmi: VirtualMachineInstance,
    pod: string,
    signal: AbortSignal,
  ): Promise<NodePart | undefined> {
    const { logger, prepare, recorder } = this.options;
    try {
      return await prepare(vmi, pod, signal);
    } catch (error) {
      signal.throwIfAborted();
      const { namespace, name } = vmi.metadata;
      logger.warn({ err: error, namespace, name }, 'cannot prepare a launcher pod; trying again');
      const why = error instanceof Error ? error.message : String(error);
      recorder.event(vmi, 'Warning', 'FailedPrepare', `Cannot prepare the launcher pod: ${why}`);
      return undefined;
    }
  }

  private shutdown(vmi: VirtualMachineInstance, session: LauncherSession, state: DomainState): void {
    const grace = vmi.spec.terminationGracePeriodSeconds ?? defaultGracePeriod;
    // Nothing has started that could end by itself.
    const sent = session.shutdown(state === 'Waiting' ? 0 : grace);
    if (!sent || state === 'Waiting' || state === 'ShuttingDown') return;
    const message = `Guest told to shut down; it will be killed after ${grace} s`;
    this.options.recorder.event(vmi, 'Normal', 'ShuttingDown', message);
  }

  private async write(
    key: string,
    vmi: VirtualMachineInstance,
    { session, part }: Entry,
    view: Exclude<SessionView, { kind: 'connecting' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, clock, node, recorder } = this.options;
    const { status: domain } = view;
    const failure = this.failure(vmi, session, view);
    const pod = this.sessions.get(key)?.pod ?? '';
    const ready = vmi.spec.readinessProbe === undefined || (this.options.probes?.isReady(pod) ?? true);
    const wanted = nextStatus({ vmi, domain, failure, ready, now: clock.now(), node, part });
    let after: VirtualMachineInstance | undefined;
    try {
      after = await patchStatus(client, virtualMachineInstances, vmi, wanted, signal);
    } catch (error) {
      if (isNotFound(error)) return;
      throw error;
    }
    if (after === undefined) return;
    this.written.set(key, after.metadata.resourceVersion);
    recordTransition(recorder, { before: vmi, after, domain, failure: failureOf({ domain, failure }) });
  }

  private failure(
    vmi: VirtualMachineInstance,
    session: LauncherSession,
    view: SessionView,
  ): Failure | undefined {
    if (
      this.options.nodeShutsDown?.() === true &&
      wasTaken(vmi, view.kind === 'connecting' ? undefined : view.status)
    )
      return { reason: 'NodeShutdown', message: 'the node was shut down, and the guest with it' };
    const refusal = session.startRefusal;
    if (refusal !== undefined) return { reason: 'StartRefused', message: refusal.message };
    if (view.kind !== 'ended') return undefined;
    const state = view.status?.state;
    if (state === 'Shutoff' || state === 'Failed' || state === 'Killed') return undefined;
    return {
      reason: 'LauncherDied',
      message: 'the launcher ended without warning, and its guest with it',
    };
  }
}

/** It has ended because it was told to, and nobody wanted it to but its node: its VM is to run again. */
function wasTaken({ metadata }: VirtualMachineInstance, domain: DomainStatus | undefined): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return domain?.state === 'Killed' || (domain?.state === 'Shutoff' && domain.reason === 'ShutdownRequested');
}

/** Before Scheduled it is the VMI controller's, and after the end nobody's. */
function isOurs({ status }: VirtualMachineInstance): boolean {
  const phase = status?.phase;
  return !isFinalPhase(phase) && (phase === 'Scheduled' || phase === 'Running' || phase === 'Unknown');
}
