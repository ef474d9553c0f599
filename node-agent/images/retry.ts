import { setTimeout as delay } from 'node:timers/promises';

export interface Backoff {
  /** Tries in all. */
  readonly attempts: number;
  readonly firstDelayMilliseconds: number;
  readonly maximumDelayMilliseconds: number;
}

export const defaultBackoff: Backoff = {
  attempts: 5,
  firstDelayMilliseconds: 250,
  maximumDelayMilliseconds: 10_000,
};

/** Waits before try number `attempt` (from 1), doubling, or as long as the server asked for. */
export async function backOff(
  backoff: Backoff,
  attempt: number,
  askedMilliseconds: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const doubled = backoff.firstDelayMilliseconds * 2 ** (attempt - 1);
  const wanted = Math.max(doubled, askedMilliseconds ?? 0);
  await delay(Math.min(wanted, backoff.maximumDelayMilliseconds), undefined, { signal });
}

/** `Retry-After` in seconds, or as a date. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
