import type { Clock } from '../../launcher/clock.js';

interface Timer {
  readonly due: number;
  readonly action: () => void;
}

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  private time = 0;
  private readonly timers = new Set<Timer>();

  now(): number {
    return this.time;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { due: this.time + ms, action };
    this.timers.add(timer);
    return () => {
      this.timers.delete(timer);
    };
  }

  /** Moves the time on, running what falls due in its order. */
  advance(ms: number): void {
    const end = this.time + ms;
    for (;;) {
      const [next] = [...this.timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due);
      if (!next) break;
      this.timers.delete(next);
      this.time = next.due;
      next.action();
    }
    this.time = end;
  }

  get pending(): number {
    return this.timers.size;
  }
}
