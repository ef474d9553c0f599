/**
 * One pod's life on this node, from its binding to its removal:
 *
 *     Preparing ─► Running ─► Ended ─► (deletion asked) ─► removed
 *
 * Deletion may come at any point. When the agent stops, the worker just leaves; the next agent's worker finds in the pod
 * directory how far things are.
 */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import { launcherLabel, launcherLabelValue } from '../../openapi/launcher/pod.js';
import { timestamp } from '../../controllers/runtime/clock.js';
import type { PodNetwork } from '../network/interface.js';
import type { PodDirectory } from '../pod-directory.js';
import { aborted, linkSignals, type LinkedSignal } from '../signals.js';
import { PodError } from './errors.js';
import { exitReason } from './exit-reason.js';
import { launcherArguments } from './launcher-arguments.js';
import { LauncherProcess, type LauncherCommand, type LauncherExit } from './launcher-process.js';
import { isReadinessStale, podStatus, runningState, type Ended, type PodState } from './pod-status.js';
import { PayloadRefresh } from './payload-refresh.js';
import { removePod } from './pod-removal.js';
import { Preparation, type PreparationOptions } from './preparation.js';
import { runContainerProbes } from './probes/container-probes.js';
import { launcherTarget } from './probes/launcher-target.js';
import { SandboxNetwork } from './sandbox-network.js';
import { StatusWriter } from './status-writer.js';
import { Termination } from './termination.js';

export interface PodWorkerOptions extends PreparationOptions {
  readonly launcher: LauncherCommand;
  /** Of the node. */
  readonly address: string;
  /** Undefined: launchers share the node's network. */
  readonly network?: Pick<PodNetwork, 'attach' | 'detach'> | undefined;
}

export class PodWorker {
  private readonly termination: Termination;
  private readonly status: StatusWriter;
  private readonly startTime: string;
  private state: PodState = { kind: 'Preparing', waiting: new Map() };
  private launcher: LauncherProcess | undefined;
  private readonly network: SandboxNetwork;
  private readonly payload: PayloadRefresh;
  private readonly stopLink: LinkedSignal;
  private readonly stopped: Promise<void>;

  /** `stop` ends the worker and leaves the pod as it is. */
  constructor(
    private pod: Pod,
    private readonly directory: PodDirectory,
    private readonly options: PodWorkerOptions,
    stop: AbortSignal,
  ) {
    this.stopLink = linkSignals(stop);
    this.stopped = aborted(this.stop);
    this.termination = new Termination(options.clock);
    this.status = new StatusWriter(pod, { ...options, signal: this.stop });
    this.payload = new PayloadRefresh(pod, directory, options);
    this.network = new SandboxNetwork(pod, options.network, options.logger);
    this.startTime = timestamp(options.clock.now());
    this.update(pod);
  }

  private get stop(): AbortSignal {
    return this.stopLink.signal;
  }

  private isStopped(): boolean {
    return this.stop.aborted;
  }

  update(pod: Pod): void {
    this.pod = pod;
    this.payload.update(pod);
    // A controller takes the readiness of a silent node's pods away: this agent has been silent, and is back.
    if (this.state.kind === 'Running' && isReadinessStale(pod, this.state)) this.setState(this.state);
    if (pod.metadata.deletionTimestamp === undefined) return;
    this.termination.request((pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000);
  }

  /** The API has no such pod any more: nothing is left to wait for. */
  vanish(): void {
    this.termination.vanish();
  }

  /** Resolves when the pod is gone from this node, or `stop` aborts. Never rejects. */
  async run(): Promise<void> {
    const { logger } = this.options;
    const log = logger.child({ pod: this.pod.metadata.name, namespace: this.pod.metadata.namespace });
    try {
      await this.live();
      await Promise.race([this.termination.requested, this.stopped]);
      if (this.isStopped()) return;
      const { directory, network, termination, options } = this;
      const vanished = (): boolean => termination.vanished;
      await removePod(this.pod, { ...options, directory, network, vanished }, this.stop);
    } catch (error) {
      if (!this.isStopped()) log.error({ err: error }, 'a pod worker failed');
    } finally {
      this.launcher?.release();
      this.termination.dispose();
      this.stopLink.dispose();
    }
  }

  private async live(): Promise<void> {
    if (!isLauncherPod(this.pod)) {
      this.reject(
        'Unsupported',
        `this node runs launchers of virtual machines only (label kubevirt.io=virt-launcher)`,
      );
      return;
    }
    const { signal: work } = linkSignals(this.stop, this.termination.signal);
    try {
      if (await this.findEnded()) return;
      await this.start(work);
    } catch (error) {
      if (this.isStopped()) return;
      if (!work.aborted) await this.fail(error);
    }
    if (this.launcher !== undefined && this.state.kind !== 'Ended') await this.supervise(this.launcher);
  }

  private setState(state: PodState): void {
    this.state = state;
    // Who deletes a pod watches its going, not its status.
    if (this.termination.signal.aborted) return;
    const { clock, address } = this.options;
    const { startTime } = this;
    const podAddresses = this.network.addresses;
    this.status.set(() =>
      podStatus(this.pod, this.state, { now: timestamp(clock.now()), startTime, address, podAddresses }),
    );
  }

  private reject(reason: string, message: string): void {
    if (this.pod.status?.phase === 'Failed') return;
    this.options.recorder.event(this.pod, 'Warning', reason, message);
    this.setState({ kind: 'Rejected', reason, message });
  }

  /** A former agent's launcher has ended while no agent ran, or its pod was ended before. */
  private async findEnded(): Promise<boolean> {
    const recorded = await this.directory.recordedLauncher();
    const prepared = (await this.directory.preparedImages()) !== undefined;
    if (prepared && recorded !== undefined && (await this.directory.isLauncherAlive())) {
      this.launcher = LauncherProcess.adopt(this.directory, recorded, this.options.clock);
      return false;
    }
    // A launcher that was started before everything was prepared has no VMI yet: it is started anew.
    if (!(prepared && recorded !== undefined) && !isEnded(this.pod)) return false;
    await this.directory.killProcesses();
    await this.network.leave();
    await this.end({ exitCode: undefined, signal: undefined });
    return true;
  }

  private async start(work: AbortSignal): Promise<void> {
    const { clock, logger } = this.options;
    if (this.launcher === undefined) await this.bringUp(work);
    else await this.network.attach(work);
    const images = (await this.directory.preparedImages()) ?? new Map<string, string>();
    const launcher = this.launcher;
    if (launcher === undefined) throw new Error('brought up without a launcher');
    const client = await launcher.connect(clock, work);
    // It has ended already: `supervise` says how.
    if (client === undefined) return;
    client.close();
    logger.info({ pod: this.pod.metadata.name, pid: launcher.identity?.pid }, 'the launcher is ready');
    const state = runningState(this.pod, images, timestamp(clock.now()));
    if (this.pod.status?.phase === 'Running') this.state = state;
    else this.setState(state);
  }

  private async bringUp(work: AbortSignal): Promise<void> {
    // What an agent left that died before the pod was prepared.
    await this.directory.killProcesses();
    await this.directory.remove();
    await this.directory.create(this.options.user?.gid);
    await this.network.attach(work);
    const preparation = new Preparation(
      this.pod,
      this.directory,
      this.options,
      (waiting) => this.setState({ kind: 'Preparing', waiting }),
      work,
    );
    // The launcher waits for its VMI anyway: it may start while the last files are put in place.
    if (await preparation.isImmediate()) {
      // Both must have ended before anybody acts on a failure of one: no launcher may start after that.
      const results = await Promise.allSettled([this.spawn(), preparation.run()]);
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    } else {
      await preparation.run();
      await this.spawn();
    }
    await this.directory.recordPrepared(preparation.images);
  }

  private async spawn(): Promise<void> {
    const launcher = this.network.entered(this.options.launcher);
    this.launcher = await LauncherProcess.start(this.directory, launcher, launcherArguments(this.pod));
  }

  private async fail(error: unknown): Promise<void> {
    const { logger, recorder } = this.options;
    const known = error instanceof PodError ? error : undefined;
    const reason = known?.reason ?? 'InternalError';
    const message = error instanceof Error ? error.message : String(error);
    if (known === undefined) logger.error({ err: error, pod: this.pod.metadata.name }, 'cannot start a pod');
    recorder.event(this.pod, 'Warning', reason, message);
    await this.directory.killProcesses();
    await this.launcher?.exited;
    await this.network.leave();
    this.setState({ kind: 'Ended', ended: { ...this.ending(1), succeeded: false, reason, message } });
  }

  /** Until the launcher has ended and nothing of it is left, or `stop`. */
  private async supervise(launcher: LauncherProcess): Promise<void> {
    const exited = launcher.exited;
    const liveness = new Termination(this.options.clock);
    const running = new AbortController();
    this.probe(liveness, running.signal);
    const refresh = this.payload.run(running.signal);
    try {
      await Promise.race([exited, liveness.requested, this.termination.requested, this.stopped]);
      if (this.isStopped()) return;
      running.abort();
      if (this.termination.signal.aborted || liveness.signal.aborted)
        await this.terminate(launcher, liveness);
    } finally {
      running.abort();
      liveness.dispose();
      await refresh;
    }
    if (this.isStopped()) return;
    const exit = await exited;
    // QEMU must never outlive its launcher.
    const killed = await this.directory.killProcesses();
    if (killed > 0) {
      this.options.logger.warn(
        { pod: this.pod.metadata.name, killed },
        'the launcher left processes; killed',
      );
    }
    await this.network.leave();
    await this.end(exit);
  }

  /** `liveness` is told when the launcher is to end because its guest does not answer. */
  private probe(liveness: Termination, signal: AbortSignal): void {
    const { pod, state } = this;
    if (state.kind !== 'Running') return;
    const { clock, recorder, launcher } = this.options;
    void runContainerProbes(
      {
        pod,
        target: launcherTarget(this.directory, launcher),
        clock,
        recorder,
        startedAt: Date.parse(state.startedAt),
        wasReady: state.ready,
        onReady: (ready) => this.setState({ ...state, ready }),
        onDead: (graceMilliseconds) => liveness.request(graceMilliseconds),
      },
      signal,
    );
  }

  private async terminate(launcher: LauncherProcess, liveness: Termination): Promise<void> {
    const ended = launcher.exited.then(() => undefined);
    const why = liveness.signal.aborted ? ': its liveness probe fails' : '';
    this.options.recorder.event(this.pod, 'Normal', 'Killing', `Stopping the launcher${why}`);
    await launcher.signal('SIGTERM');
    await Promise.race([ended, this.termination.expired, liveness.expired, this.stopped]);
    if (this.isStopped()) return;
    await this.directory.killProcesses();
    await launcher.signal('SIGKILL');
    await Promise.race([ended, this.stopped]);
  }

  private ending(exitCode: number): Omit<Ended, 'succeeded' | 'reason' | 'message'> {
    const startedAt = this.state.kind === 'Running' ? this.state.startedAt : undefined;
    return { exitCode, startedAt, finishedAt: timestamp(this.options.clock.now()) };
  }

  private async end(exit: LauncherExit): Promise<void> {
    if (isEnded(this.pod)) return;
    const { exitCode, ...end } = exitReason(exit, await this.directory.lastStatus(), this.directory.log);
    if (!end.succeeded) this.options.recorder.event(this.pod, 'Warning', 'Failed', end.message);
    this.setState({ kind: 'Ended', ended: { ...this.ending(exitCode), ...end } });
  }
}

function isLauncherPod({ metadata }: Pod): boolean {
  return metadata.labels?.[launcherLabel] === launcherLabelValue;
}

function isEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
