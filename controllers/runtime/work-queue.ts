/**
 * Keys to work on. A key waits at most once, and is never worked on twice at the same time: added while it is being
 * worked on, it comes again when that is done.
 */
import type { Clock } from './clock.js';
import type { RateLimiterOptions } from './rate-limiter.js';
import { Retries } from './retries.js';
import { WaitingKeys, type Priority } from './waiting-keys.js';

/** What a queue is doing now. */
export interface QueueState {
  /** How many keys wait to be taken now. */
  readonly length: number;
  /** Milliseconds that each key being worked on has taken so far. */
  workedOnFor(): number[];
}

/** Told as it happens. Seconds. */
export interface QueueObserver {
  added(): void;
  /** A key was taken, so long after it had been added. */
  taken(seconds: number): void;
  retried(): void;
}

type TakeResult = string | undefined;

export class WorkQueue implements QueueState {
  readonly #ready = new WaitingKeys();
  /** When each was added, or taken. */
  readonly #addedAt = new Map<string, number>();
  readonly #processing = new Map<string, number>();
  /** Added while they were being worked on. */
  readonly #again = new Map<string, Priority>();
  readonly #delayed = new Map<string, { due: number; cancel: () => void }>();
  readonly #takers: ((key: TakeResult) => void)[] = [];
  readonly #retries: Retries;
  #closed = false;

  constructor(
    private readonly clock: Clock,
    limits?: RateLimiterOptions,
    private readonly observer?: QueueObserver,
  ) {
    this.#retries = new Retries(clock, (key) => this.add(key), limits);
  }

  get length(): number {
    return this.#ready.size;
  }

  workedOnFor(): number[] {
    const now = this.clock.monotonic();
    return [...this.#processing.values()].map((since) => now - since);
  }

  add(key: string, priority: Priority = 'normal'): void {
    if (this.#closed) return;
    this.#retries.withdraw(key);
    if (this.#processing.has(key)) {
      if (!this.#again.has(key)) this.#note(key);
      if (this.#again.get(key) !== 'normal') this.#again.set(key, priority);
      return;
    }
    if (this.#ready.add(key, priority)) this.#note(key);
    this.#serve();
  }

  /** Adds the key after `ms`; of several calls the earliest counts. */
  addAfter(key: string, ms: number): void {
    this.#after(key, ms, () => {
      this.add(key);
    });
  }

  /** Adds the key after a delay that grows with its failures, and when there is room for retries. Returns the delay. */
  addRateLimited(key: string): number {
    const delay = this.#retries.delay(key);
    this.observer?.retried();
    this.#after(key, delay, () => {
      this.#retries.release(key);
    });
    return delay;
  }

  /** As `addRateLimited`, for failures that say nothing of the server's health. */
  addBackedOff(key: string): number {
    const delay = this.#retries.delay(key);
    this.observer?.retried();
    this.addAfter(key, delay);
    return delay;
  }

  /** The key worked: its next failure starts at the shortest delay again. */
  forget(key: string): void {
    this.#retries.forget(key);
  }

  failures(key: string): number {
    return this.#retries.failures(key);
  }

  /** The next key, which must be given to `done` afterwards; `undefined` once the queue is closed. */
  take(): Promise<string | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#takers.push(resolve);
      this.#serve();
    });
  }

  done(key: string): void {
    this.#processing.delete(key);
    const priority = this.#again.get(key);
    if (priority === undefined || this.#closed) return;
    this.#again.delete(key);
    this.#ready.add(key, priority);
    this.#serve();
  }

  /** Drops what waits and ends all takers. */
  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#retries.clear();
    this.#ready.clear();
    this.#again.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
  }

  #note(key: string): void {
    this.#addedAt.set(key, this.clock.monotonic());
    this.observer?.added();
  }

  #serve(): void {
    if (this.#takers.length === 0) return;
    const key = this.#ready.take();
    if (key === undefined) return;
    const now = this.clock.monotonic();
    this.#processing.set(key, now);
    this.observer?.taken((now - (this.#addedAt.get(key) ?? now)) / 1000);
    this.#addedAt.delete(key);
    this.#takers.shift()?.(key);
  }

  #after(key: string, ms: number, then: () => void): void {
    if (this.#closed) return;
    if (ms <= 0) {
      then();
      return;
    }
    const due = this.clock.monotonic() + ms;
    const waiting = this.#delayed.get(key);
    if (waiting !== undefined && waiting.due <= due) return;
    waiting?.cancel();
    const cancel = this.clock.timer(ms, () => {
      this.#delayed.delete(key);
      then();
    });
    this.#delayed.set(key, { due, cancel });
  }
}
