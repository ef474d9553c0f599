/** How reviews are asked of the cluster. */
import { setTimeout as delay } from 'node:timers/promises';
import type { KubernetesObject, New } from '../../openapi/meta.js';
import { ApiError } from '../errors/api-error.js';

/** Creates a review and resolves with it as the cluster answered it. */
export type Reviewer<T extends KubernetesObject> = (review: New<T>, signal: AbortSignal) => Promise<T>;

/** Before each further try. A replica of kube-apiserver that is going away should cost no request. Milliseconds. */
const pauses = [100, 400];
const timeout = 10_000;

/** Asks, and asks again. In the end a cluster that does not answer is no fault of the user: 503. */
export async function askReview<T extends KubernetesObject>(
  reviewer: Reviewer<T>,
  review: New<T>,
): Promise<T> {
  const signal = AbortSignal.timeout(timeout);
  for (let attempt = 0; ; attempt++) {
    try {
      return await reviewer(review, signal);
    } catch (cause) {
      const pause = pauses[attempt];
      if (pause === undefined || signal.aborted) throw unavailable(review.kind, cause);
      await delay(pause, undefined, { signal }).catch(() => {
        throw unavailable(review.kind, cause);
      });
    }
  }
}

function unavailable(kind: string, cause: unknown): ApiError {
  const message = `the cluster's API server can not be asked for a ${kind}`;
  return new ApiError('ServiceUnavailable', message, { retryAfterSeconds: 1 }, { cause });
}
