/** Time as the launcher sees it, injected so that tests can hold it. Milliseconds throughout. */
export interface Clock {
  now(): number;
  /** Calls `action` once after `ms`; the returned function cancels it. */
  after(ms: number, action: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};

export function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value));
}
