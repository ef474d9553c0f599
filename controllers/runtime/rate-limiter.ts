/** How long a failed item of a work queue waits. */
import type { Clock } from './clock.js';

export interface RateLimiterOptions {
  /** First delay of an item, in milliseconds; doubles with each failure. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** Retries a second over all items, and how many may come at once. */
  readonly perSecond?: number;
  readonly burst?: number;
}

export class RateLimiter {
  readonly #failures = new Map<string, number>();
  readonly #bucket: TokenBucket;
  readonly #minimum: number;
  readonly #maximum: number;

  constructor(clock: Clock, options: RateLimiterOptions = {}) {
    this.#minimum = options.minimum ?? 5;
    this.#maximum = options.maximum ?? 300_000;
    this.#bucket = new TokenBucket(clock, options.perSecond ?? 10, options.burst ?? 100);
  }

  /** Counts a failure of the item and says how long it waits. */
  delay(item: string): number {
    const failures = this.#failures.get(item) ?? 0;
    this.#failures.set(item, failures + 1);
    const own = Math.min(this.#minimum * 2 ** Math.min(failures, 40), this.#maximum);
    return Math.max(own, this.#bucket.reserve());
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

  /** Takes a token, in advance if need be. Returns in how many milliseconds it is due. */
  reserve(): number {
    this.#refill();
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.perSecond) * 1000;
  }

  /** Takes a token if there is one. */
  take(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #refill(): void {
    const now = this.clock.monotonic();
    this.#tokens = Math.min(this.burst, this.#tokens + ((now - this.#updated) / 1000) * this.perSecond);
    this.#updated = now;
  }
}
