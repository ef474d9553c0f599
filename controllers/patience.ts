/** For how long something has been so, as this process has seen it. Forgets nothing but by `end`. */
import type { Clock } from './runtime/clock.js';

export class Patience {
  readonly #since = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** Milliseconds since the first call for this key. */
  waited(key: string): number {
    const now = this.clock.monotonic();
    const since = this.#since.get(key) ?? now;
    this.#since.set(key, since);
    return now - since;
  }

  end(key: string): void {
    this.#since.delete(key);
  }
}
