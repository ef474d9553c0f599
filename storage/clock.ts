/** Time as storage sees it. Tests pass a clock that they move by hand. */
export interface Clock {
  /** Milliseconds since 1970. May jump. */
  now(): number;
  /** Calls `callback` once after `ms`. Returns how to cancel it. Does not keep the process alive by itself. */
  timer(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  timer(ms, callback) {
    const timer = setTimeout(callback, ms).unref();
    return () => {
      clearTimeout(timer);
    };
  },
};
