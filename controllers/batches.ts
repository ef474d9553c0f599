/** Many equal writes at once, with care for the server. */

/** How many writes of one kind a controller starts for one object before it looks again. As KubeVirt's. */
export const burstLimit = 250;

export interface Batched<R> {
  readonly done: R[];
  /** Of the first piece of work that failed. */
  readonly error: Error | undefined;
}

/**
 * Works on one item, then on two at once, then four and so on, until a batch has a failure: what is refused to all is asked
 * once, not two hundred times.
 */
export async function inGrowingBatches<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<Batched<R>> {
  const done: R[] = [];
  for (let start = 0, size = 1; start < items.length; start += size, size *= 2) {
    const results = await Promise.allSettled(items.slice(start, start + size).map(work));
    for (const result of results) if (result.status === 'fulfilled') done.push(result.value);
    const failed = results.find((result) => result.status === 'rejected');
    // Rejections are errors here.
    if (failed !== undefined) return { done, error: failed.reason as Error };
  }
  return { done, error: undefined };
}
