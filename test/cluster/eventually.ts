/** What the cluster has been told comes to the aggregated server by a watch that no answer tells of. */
import { setTimeout as delay } from 'node:timers/promises';

/** The first value that is found. */
export async function eventually<T>(what: string, found: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const value = await found();
    if (value !== undefined) return value;
    await delay(50);
  }
  throw new Error(`not within five seconds: ${what}`);
}
