/** Waiting that a signal ends. */
import { setTimeout as sleep } from 'node:timers/promises';

/** Rejects with the signal's reason when it is aborted. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  try {
    await sleep(milliseconds, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
