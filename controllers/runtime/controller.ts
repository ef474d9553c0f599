/** The loop that all controllers share: take a key, bring the world closer to what its object asks for, repeat. */
import type { KubernetesObject } from '../../openapi/meta.js';
import { systemClock, type Clock } from './clock.js';
import { StatusError, isConflict } from './errors.js';
import type { Informer } from './informer.js';
import type { Logger } from './logger.js';
import type { RateLimiterOptions } from './rate-limiter.js';
import { sharedSignal } from './signals.js';
import type { Priority } from './waiting-keys.js';
import { WorkQueue, type QueueState } from './work-queue.js';

/** Something that runs until its signal aborts. */
export interface Runnable {
  run(signal: AbortSignal): Promise<void>;
}

export interface ReconcileResult {
  /** Look again after so many milliseconds, whatever happens. */
  readonly requeueAfter?: number;
}

/** Told by each controller under its name. Seconds. */
export interface ControllerMetrics {
  /** The controller has a new queue. */
  queue(controller: string, state: QueueState): void;
  /** A key was added that did not wait already. */
  added(controller: string): void;
  /** A key was taken, so long after it had been added. */
  taken(controller: string, seconds: number): void;
  /** A key failed and comes back. */
  retried(controller: string): void;
  /** One reconciliation has ended. */
  reconciled(controller: string, outcome: 'success' | 'error' | 'conflict', seconds: number): void;
}

export interface ControllerOptions {
  readonly name: string;
  /** Work starts when all of these have synced. */
  readonly informers: readonly Informer<KubernetesObject>[];
  /**
   * Level triggered: reads the present state, whatever event caused it. Idempotent. Throws to be called again after a
   * growing delay. Never runs twice at once for one key.
   */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<ReconcileResult | undefined>;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Keys worked on at the same time; 4 if absent. */
  readonly workers?: number;
  readonly limits?: RateLimiterOptions | undefined;
  readonly metrics?: ControllerMetrics | undefined;
}

export class Controller implements Runnable {
  readonly #clock: Clock;
  readonly #queue: WorkQueue;
  readonly #logger: Logger;
  #working = false;

  constructor(private readonly options: ControllerOptions) {
    const { name, metrics, limits, logger, clock = systemClock } = options;
    this.#clock = clock;
    this.#queue = new WorkQueue(clock, limits, {
      added: () => metrics?.added(name),
      taken: (seconds) => metrics?.taken(name, seconds),
      retried: () => metrics?.retried(name),
    });
    this.#logger = logger.child({ controller: name });
    metrics?.queue(name, this.#queue);
  }

  /**
   * `low`: what is only beginning, so that a thousand beginnings do not keep what goes on already waiting. What is there when the
   * controller starts can wait for what happens then, too.
   */
  enqueue(key: string, priority: Priority = 'normal'): void {
    this.#queue.add(key, this.#working ? priority : 'low');
  }

  enqueueAfter(key: string, ms: number): void {
    this.#queue.addAfter(key, ms);
  }

  async run(stop: AbortSignal): Promise<void> {
    const signal = sharedSignal(stop);
    const close = (): void => {
      this.#queue.close();
    };
    signal.addEventListener('abort', close, { once: true });
    try {
      await Promise.all(this.options.informers.map((informer) => informer.synced(signal)));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    if (signal.aborted) {
      close();
      return;
    }
    this.#working = true;
    const workers = Array.from({ length: this.options.workers ?? 4 }, () => this.#work(signal));
    await Promise.all(workers);
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (;;) {
      const key = await this.#queue.take();
      if (key === undefined) return;
      await this.#process(key, signal);
      this.#queue.done(key);
    }
  }

  async #process(key: string, signal: AbortSignal): Promise<void> {
    const started = this.#clock.monotonic();
    const report = (outcome: 'success' | 'error' | 'conflict'): void => {
      this.options.metrics?.reconciled(
        this.options.name,
        outcome,
        (this.#clock.monotonic() - started) / 1000,
      );
    };
    try {
      const result = await this.options.reconcile(key, signal);
      this.#queue.forget(key);
      if (result?.requeueAfter !== undefined) this.#queue.addAfter(key, result.requeueAfter);
      report('success');
    } catch (error) {
      if (signal.aborted) return;
      report(isConflict(error) ? 'conflict' : 'error');
      this.#retry(key, error);
    }
  }

  #retry(key: string, error: unknown): void {
    // A conflict only says that somebody else wrote first: the next look at the newer state settles it.
    if (isConflict(error)) {
      this.#queue.addBackedOff(key);
      this.#logger.debug({ key, err: error }, 'the object has changed; trying again');
      return;
    }
    const wanted = error instanceof StatusError ? error.retryAfterSeconds : undefined;
    const delay = wanted === undefined ? this.#queue.addRateLimited(key) : wanted * 1000;
    if (wanted !== undefined) this.#queue.addAfter(key, delay);
    this.#logger.warn({ key, err: error, delay: Math.round(delay) }, 'reconciliation failed');
  }
}
