import type { Clock } from '../clock.js';

/** A clock that moves only when told. */
export interface ManualClock extends Clock {
  /** Moves on and calls what became due, in order of time. */
  advance(ms: number): void;
}

export function createManualClock(start = Date.parse('2026-01-01T00:00:00Z')): ManualClock {
  let now = start;
  const timers = new Set<{ readonly due: number; readonly callback: () => void }>();
  return {
    now: () => now,
    timer(ms, callback) {
      const timer = { due: now + ms, callback };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...timers].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due);
        if (next === undefined) break;
        timers.delete(next);
        now = Math.max(now, next.due);
        next.callback();
      }
      now = end;
    },
  };
}
