/**
 * Keys to work on. A key waits at most once, and is never worked on twice at the same time: added while it is being
 * worked on, it comes again when that is done.
 */
import type { Clock } from './clock.js';
import { RateLimiter, type RateLimiterOptions } from './rate-limiter.js';

export class WorkQueue {
  readonly #clock: Clock;
  readonly #limiter: RateLimiter;
  /** In the order in which they come out. */
  readonly #ready = new Set<string>();
  readonly #processing = new Set<string>();
  /** Added while they were being worked on. */
  readonly #again = new Set<string>();
  readonly #delayed = new Map<string, { due: number; cancel: () => void }>();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  #closed = false;

  constructor(clock: Clock, limits?: RateLimiterOptions) {
    this.#clock = clock;
    this.#limiter = new RateLimiter(clock, limits);
  }

  /** How many keys wait to be taken now. */
  get length(): number {
    return this.#ready.size;
  }

  add(key: string): void {
    if (this.#closed) return;
    if (this.#processing.has(key)) {
      this.#again.add(key);
      return;
    }
    const taker = this.#takers.shift();
    if (taker === undefined) {
      this.#ready.add(key);
      return;
    }
    this.#processing.add(key);
    taker(key);
  }

  /** Adds the key after `ms`; of several calls the earliest counts. */
  addAfter(key: string, ms: number): void {
    if (this.#closed) return;
    if (ms <= 0) {
      this.add(key);
      return;
    }
    const due = this.#clock.monotonic() + ms;
    const waiting = this.#delayed.get(key);
    if (waiting !== undefined && waiting.due <= due) return;
    waiting?.cancel();
    const cancel = this.#clock.timer(ms, () => {
      this.#delayed.delete(key);
      this.add(key);
    });
    this.#delayed.set(key, { due, cancel });
  }

  /** Adds the key after a delay that grows with its failures. Returns the delay. */
  addRateLimited(key: string): number {
    const delay = this.#limiter.delay(key);
    this.addAfter(key, delay);
    return delay;
  }

  /** The key worked: its next failure starts at the shortest delay again. */
  forget(key: string): void {
    this.#limiter.forget(key);
  }

  failures(key: string): number {
    return this.#limiter.failures(key);
  }

  /** The next key, which must be given to `done` afterwards; `undefined` once the queue is closed. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    for (const key of this.#ready) {
      this.#ready.delete(key);
      this.#processing.add(key);
      return Promise.resolve(key);
    }
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  done(key: string): void {
    this.#processing.delete(key);
    if (this.#again.delete(key)) this.add(key);
  }

  /** Drops what waits and ends all takers. */
  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#ready.clear();
    this.#again.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }
}
