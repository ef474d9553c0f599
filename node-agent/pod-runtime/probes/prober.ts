/** Repeats the check of one probe, and tells when its result changes: so many checks in a row must agree. */
import type { Probe } from '../../../openapi/generated/types/core_v1.js';
import { sleep, type Clock } from '../../../controllers/runtime/clock.js';
import { linkSignals } from '../../signals.js';

export interface ProberOptions {
  readonly probe: Probe;
  readonly clock: Clock;
  /** When the container started, by `clock.now()`. */
  readonly startedAt: number;
  /** The result until checks say otherwise. */
  readonly initial: boolean;
  /** Rejects with the reason of a failure. */
  readonly check: (signal: AbortSignal) => Promise<void>;
  /** Called with the first failure of each row. */
  readonly onFailure: (reason: string) => void;
  readonly onChange: (succeeds: boolean) => void;
}

/** Until the signal aborts. */
export async function runProber(options: ProberOptions, signal: AbortSignal): Promise<void> {
  const { probe, clock, startedAt, onFailure, onChange } = options;
  const { initialDelaySeconds = 0, periodSeconds = 10, failureThreshold = 3, successThreshold = 1 } = probe;
  let result = options.initial;
  let row: { readonly succeeds: boolean; readonly length: number } = { succeeds: result, length: 0 };
  let pause = startedAt + initialDelaySeconds * 1000 - clock.now();
  for (;;) {
    try {
      await sleep(clock, Math.max(0, pause), signal);
    } catch {
      return;
    }
    const begin = clock.monotonic();
    const failure = await failureOf(options, signal);
    if (signal.aborted) return;
    const succeeds = failure === undefined;
    row = { succeeds, length: row.succeeds === succeeds ? row.length + 1 : 1 };
    if (!succeeds && row.length === 1) onFailure(failure);
    if (succeeds !== result && row.length >= (succeeds ? successThreshold : failureThreshold)) {
      result = succeeds;
      onChange(result);
    }
    pause = periodSeconds * 1000 - (clock.monotonic() - begin);
  }
}

/** Undefined if the check succeeds in time. */
async function failureOf(
  { probe: { timeoutSeconds = 1 }, clock, check }: ProberOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const late = new AbortController();
  const cancel = clock.timer(timeoutSeconds * 1000, () => late.abort());
  const link = linkSignals(signal, late.signal);
  try {
    await check(link.signal);
    return undefined;
  } catch (error) {
    if (late.signal.aborted) return `no answer in ${timeoutSeconds} s`;
    return error instanceof Error ? error.message : String(error);
  } finally {
    cancel();
    link.dispose();
  }
}
