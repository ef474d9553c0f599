/**
 * Failed keys on their way back into a queue. Each waits out its own delay; then all share one bucket of tokens, in which every
 * namespace has its turn: ten thousand failures of one user do not delay the first retry of another.
 */
import type { Clock } from './clock.js';
import { defaultLimits, ItemBackoff, TokenBucket, type RateLimiterOptions } from './rate-limiter.js';
import { Rotation } from './waiting-keys.js';

export class Retries {
  readonly #backoff: ItemBackoff;
  readonly #bucket: TokenBucket;
  /** They have waited long enough, and lack a token. */
  readonly #throttled = new Rotation();
  #cancelPump: (() => void) | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly add: (key: string) => void,
    limits: RateLimiterOptions = {},
  ) {
    const { minimum, maximum, perSecond, burst } = { ...defaultLimits, ...limits };
    this.#backoff = new ItemBackoff(minimum, maximum);
    this.#bucket = new TokenBucket(clock, perSecond, burst);
  }

  /** Counts a failure of the key. Milliseconds that it has to wait. */
  delay(key: string): number {
    return this.#backoff.delay(key);
  }

  failures(key: string): number {
    return this.#backoff.failures(key);
  }

  forget(key: string): void {
    this.#backoff.forget(key);
  }

  /** The key has waited out its delay: it is added as soon as there is a token for it. */
  release(key: string): void {
    this.#throttled.add(key);
    this.#pump();
  }

  /** It came back in another way. */
  withdraw(key: string): void {
    this.#throttled.delete(key);
  }

  clear(): void {
    this.#throttled.clear();
    this.#cancelPump?.();
    this.#cancelPump = undefined;
  }

  #pump(): void {
    while (this.#throttled.size > 0 && this.#bucket.take()) {
      const key = this.#throttled.take();
      if (key !== undefined) this.add(key);
    }
    if (this.#throttled.size === 0 || this.#cancelPump !== undefined) return;
    this.#cancelPump = this.clock.timer(this.#bucket.nextIn, () => {
      this.#cancelPump = undefined;
      this.#pump();
    });
  }
}
