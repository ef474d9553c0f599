/**
 * Runs the launcher pods that are bound to this node as local processes, where no kubelet does: the standalone mode's
 * stand-in for kubelet and container runtime.
 */
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import { Backoff } from '../../controllers/runtime/backoff.js';
import { sleep } from '../../controllers/runtime/clock.js';
import { isNotFound } from '../../controllers/runtime/errors.js';
import type { Informer } from '../../controllers/runtime/informer.js';
import { pods } from '../../controllers/runtime/kinds.js';
import { sharedSignal } from '../../controllers/runtime/signals.js';
import type { PodDirectories } from '../pod-directory.js';
import { untilAll } from '../until-all.js';
import { endLaunchers } from './launchers-end.js';
import { PodWorker, type PodWorkerOptions } from './pod-worker.js';

export interface PodRuntimeOptions extends PodWorkerOptions {
  /** Pods with `spec.nodeName` of this node. */
  readonly informer: Informer<Pod>;
  readonly directories: PodDirectories;
}

interface Running {
  readonly worker: PodWorker;
  readonly done: Promise<void>;
}

/** Milliseconds that the status of a pod that has ended may take. */
const reportTimeout = 5000;

export class PodRuntime {
  private readonly workers = new Map<string, Running>();

  private leaving = false;

  constructor(private readonly options: PodRuntimeOptions) {}

  /** Pods that this runtime looks after. */
  get size(): number {
    return this.workers.size;
  }

  /** Until the signal aborts; launchers go on running. */
  async run(stop: AbortSignal): Promise<void> {
    const signal = sharedSignal(stop);
    const { informer, directories } = this.options;
    await directories.create();
    const remove = informer.addHandler({
      add: (pod) => this.look(pod, signal),
      update: (_before, pod) => this.look(pod, signal),
      delete: (pod) => void this.missing(pod, signal),
    });
    try {
      await informer.synced(signal);
      await this.removeOrphans(signal);
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      remove();
      await Promise.all([...this.workers.values()].map(({ done }) => done));
    }
  }

  /** Ends all launchers, and starts none any more. Resolves when their pods say how they ended. */
  async shutDown(milliseconds: number): Promise<void> {
    this.leaving = true;
    const { informer, clock } = this.options;
    const alive = informer.list().filter((pod) => !hasEnded(pod));
    await endLaunchers(alive, milliseconds, this.options);
    const uids = new Set(alive.map(({ metadata }) => metadata.uid));
    const told = (pod: Pod): boolean => !uids.has(pod.metadata.uid) || hasEnded(pod);
    await untilAll(informer, told, clock, reportTimeout);
  }

  private look(pod: Pod, signal: AbortSignal): void {
    const { uid } = pod.metadata;
    const running = this.workers.get(uid);
    if (running !== undefined) {
      running.worker.update(pod);
      return;
    }
    if (signal.aborted || this.leaving) return;
    const worker = new PodWorker(pod, this.options.directories.of(uid), this.options, signal);
    const done = worker.run().finally(() => this.workers.delete(uid));
    this.workers.set(uid, { worker, done });
  }

  /** Asks once more before it kills: a watch's gap must not cost a VM. */
  private async missing(pod: Pod, signal: AbortSignal): Promise<void> {
    const { uid } = pod.metadata;
    if (!this.workers.has(uid)) return;
    const gone = await this.isGone(pod, signal).catch(() => false);
    if (gone) this.workers.get(uid)?.worker.vanish();
  }

  private async isGone(pod: Pod, signal: AbortSignal): Promise<boolean> {
    const { client, clock, logger, random } = this.options;
    const { namespace, name, uid } = pod.metadata;
    const backoff = new Backoff({ minimum: 100, maximum: 10_000, random });
    for (;;) {
      try {
        return (await client.get(pods, { namespace, name }, signal)).metadata.uid !== uid;
      } catch (error) {
        signal.throwIfAborted();
        if (isNotFound(error)) return true;
        logger.warn({ err: error, pod: name, namespace }, 'cannot ask whether a pod is gone; trying again');
      }
      await sleep(clock, backoff.next(), signal);
    }
  }

  /** What former agents left of pods that were deleted meanwhile. */
  private async removeOrphans(signal: AbortSignal): Promise<void> {
    const { directories, informer, logger, network } = this.options;
    const known = new Set(informer.list().map(({ metadata }) => metadata.uid));
    for (const uid of await directories.list()) {
      if (signal.aborted) return;
      if (known.has(uid) || this.workers.has(uid)) continue;
      const directory = directories.of(uid);
      const killed = await directory.killProcesses();
      try {
        await network?.detach(uid);
      } catch (error) {
        logger.warn({ err: error, uid }, 'cannot remove the network of a pod that is gone');
        continue;
      }
      await directory.remove();
      logger.info({ uid, killed }, 'removed what was left of a pod that is gone');
    }
  }
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
