/** Jittered exponential delays between attempts. */

export interface BackoffOptions {
  /** The shortest delay, in milliseconds. */
  readonly minimum: number;
  /** The longest delay, jitter included. */
  readonly maximum: number;
  /** A number in [0, 1). */
  readonly random: () => number;
}

export class Backoff {
  #failures = 0;

  constructor(private readonly options: BackoffOptions) {}

  /** The delay before the next attempt: doubles each time, and up to doubles again by chance. */
  next(): number {
    const { minimum, maximum, random } = this.options;
    const base = Math.min(minimum * 2 ** Math.min(this.#failures, 30), maximum / 2);
    this.#failures += 1;
    return Math.min(maximum, base * (1 + random()));
  }

  reset(): void {
    this.#failures = 0;
  }
}
