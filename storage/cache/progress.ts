import type { Clock } from '../clock.js';
import type { Revision } from '../interface.js';

interface Waiter {
  readonly revision: Revision;
  readonly wake: () => void;
}

/** How far the cache has come, and who waits for it to come further. */
export class Progress {
  readonly #clock: Clock;
  #revision: Revision = -1;
  #waiters: Waiter[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Everything up to here is visible; -1 before the first fill. */
  get revision(): Revision {
    return this.#revision;
  }

  advance(revision: Revision): void {
    if (revision <= this.#revision) return;
    this.#revision = revision;
    if (this.#waiters.length === 0) return;
    const due = this.#waiters.filter((waiter) => waiter.revision <= revision);
    if (due.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > revision);
    for (const { wake } of due) wake();
  }

  /** Resolves when `revision` is visible, or at the latest after `milliseconds` or when `signal` aborts: then with false. */
  async reached(revision: Revision, milliseconds: number, signal?: AbortSignal): Promise<boolean> {
    if (revision <= this.#revision) return true;
    if (signal?.aborted === true) return false;
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        cancel();
        signal?.removeEventListener('abort', settle);
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        resolve();
      };
      const waiter = { revision, wake: settle };
      const cancel = this.#clock.timer(milliseconds, settle);
      signal?.addEventListener('abort', settle);
      this.#waiters.push(waiter);
    });
    return revision <= this.#revision;
  }
}
