/** That a pod is to end, and until when it may take. */
import type { Clock } from '../../controllers/runtime/clock.js';

export class Termination {
  /** Resolves with the first request. */
  readonly requested: Promise<void>;
  /** Resolves when the grace period is over. */
  readonly expired: Promise<void>;
  private readonly controller = new AbortController();
  private resolveExpired: () => void = () => undefined;
  private cancelTimer: (() => void) | undefined;
  private deadline = Number.POSITIVE_INFINITY;
  private gone = false;

  constructor(private readonly clock: Clock) {
    this.requested = new Promise((resolve) => {
      this.signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.expired = new Promise((resolve) => (this.resolveExpired = resolve));
  }

  /** Aborts with the first request. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The API has no such pod any more. */
  get vanished(): boolean {
    return this.gone;
  }

  /** Later requests may shorten the grace period, never lengthen it. */
  request(graceMilliseconds: number): void {
    const deadline = this.clock.monotonic() + graceMilliseconds;
    if (deadline < this.deadline) {
      this.deadline = deadline;
      this.cancelTimer?.();
      this.cancelTimer = this.clock.timer(graceMilliseconds, this.resolveExpired);
    }
    this.controller.abort();
  }

  vanish(): void {
    this.gone = true;
    this.request(0);
  }

  /** Forgets the timer. */
  dispose(): void {
    this.cancelTimer?.();
  }
}
