/** Time, injected so that tests need not wait for it. */

export interface Clock {
  /** Milliseconds since 1970. May jump. */
  now(): number;
  /** Milliseconds since some fixed moment. Never jumps back. */
  monotonic(): number;
  /** Calls `callback` once after `ms`. Returns how to cancel it. Does not keep the process alive by itself. */
  timer(ms: number, callback: () => void): () => void;
}

/** setTimeout fires at once for anything longer. */
const longestTimer = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(ms, callback) {
    const timeout = setTimeout(callback, Math.min(Math.max(0, ms), longestTimer));
    timeout.unref();
    return () => {
      clearTimeout(timeout);
    };
  },
};

/** Resolves after `ms`; rejects with the signal's reason if it aborts first. */
export async function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      cancel();
      reject(signal.reason as Error);
    };
    const cancel = clock.timer(ms, () => {
      signal.removeEventListener('abort', abort);
      resolve();
    });
    signal.addEventListener('abort', abort, { once: true });
  });
}

/** As Kubernetes writes times in metadata and status: whole seconds, UTC. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** MicroTime: what leases carry. */
export function microTimestamp(ms: number): string {
  const whole = Math.floor(ms);
  const micros = Math.floor((ms - whole) * 1000);
  return `${new Date(whole).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
}
