/** How long failed items wait, each by itself and all together. */
import type { Clock } from './clock.js';

export interface RateLimiterOptions {
  /** First delay of an item, in milliseconds; doubles with each failure. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** Retries a second over all items, and how many may come at once. */
  readonly perSecond?: number;
  readonly burst?: number;
}

/** client-go's. */
export const defaultLimits: Required<RateLimiterOptions> = {
  minimum: 5,
  maximum: 1_000_000,
  perSecond: 10,
  burst: 100,
};

/** Counts the failures of each item. */
export class ItemBackoff {
  readonly #failures = new Map<string, number>();

  constructor(
    private readonly minimum: number,
    private readonly maximum: number,
  ) {}

  /** Counts a failure and says for how many milliseconds the item waits. */
  delay(item: string): number {
    const failures = this.failures(item);
    this.#failures.set(item, failures + 1);
    return Math.min(this.minimum * 2 ** Math.min(failures, 40), this.maximum);
  }

  failures(item: string): number {
    return this.#failures.get(item) ?? 0;
  }

  forget(item: string): void {
    this.#failures.delete(item);
  }
}

export class TokenBucket {
  #tokens: number;
  #updated: number;

  constructor(
    private readonly clock: Clock,
    private readonly perSecond: number,
    private readonly burst: number,
  ) {
    this.#tokens = burst;
    this.#updated = clock.monotonic();
  }

  /** Takes a token if there is one. */
  take(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Milliseconds until there is a token. */
  get nextIn(): number {
    this.#refill();
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) / this.perSecond) * 1000);
  }

  #refill(): void {
    const now = this.clock.monotonic();
    this.#tokens = Math.min(this.burst, this.#tokens + ((now - this.#updated) / 1000) * this.perSecond);
    this.#updated = now;
  }
}
