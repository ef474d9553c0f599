/** A clock that moves only when it is told to. */
import type { Clock } from '../clock.js';

interface Timer {
  readonly due: number;
  readonly serial: number;
  readonly callback: () => void;
}

export class FakeClock implements Clock {
  #now: number;
  #serial = 0;
  readonly #timers = new Set<Timer>();

  /** `drift`: how far its wall clock is ahead of its monotonic one. */
  constructor(
    start = Date.parse('2026-01-02T03:04:05Z'),
    private readonly drift = 0,
  ) {
    this.#now = start;
  }

  now(): number {
    return this.#now + this.drift;
  }

  monotonic(): number {
    return this.#now;
  }

  timer(ms: number, callback: () => void): () => void {
    this.#serial += 1;
    const timer = { due: this.#now + Math.max(0, ms), serial: this.#serial, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How long until the next timer; undefined if there is none. */
  get nextTimer(): number | undefined {
    const next = this.#next();
    return next === undefined ? undefined : Math.max(0, next.due - this.#now);
  }

  /** Moves on by `ms`; everything that falls due happens in its order, with what it causes. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settle();
    for (let next = this.#next(); next !== undefined && next.due <= end; next = this.#next()) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.due);
      next.callback();
      await settle();
    }
    this.#now = end;
    await settle();
  }

  #next(): Timer | undefined {
    let found: Timer | undefined;
    for (const timer of this.#timers)
      if (
        found === undefined ||
        timer.due < found.due ||
        (timer.due === found.due && timer.serial < found.serial)
      )
        found = timer;
    return found;
  }
}

/** Lets everything run that waits for nothing but promises. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++)
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
}
