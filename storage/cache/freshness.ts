import { FutureRevisionError, UnavailableError } from '../errors.js';
import type { Backend, Revision } from '../interface.js';
import type { CacheLimits } from './options.js';
import type { Progress } from './progress.js';

/** A cache that follows a backend. */
export interface Following {
  readonly backend: Backend;
  readonly limits: CacheLimits;
  readonly progress: Progress;
}

/** How fresh a read wants the cache. */
export type ReadAt =
  | { readonly kind: 'newest' }
  | { readonly kind: 'any' }
  | { readonly kind: 'notOlderThan'; readonly revision: Revision };

/** Waits until the cache is as fresh as the read wants it: the newest is what the backend says is the newest now, whoever wrote it. */
export async function awaitRevision(
  { backend, limits, progress }: Following,
  at: ReadAt,
  signal?: AbortSignal,
): Promise<void> {
  const wanted =
    at.kind === 'newest' ? await backend.currentRevision(signal) : at.kind === 'any' ? 0 : at.revision;
  if (progress.revision >= wanted) return;
  backend.requestProgress?.();
  if (await progress.reached(wanted, limits.readWaitMilliseconds, signal)) return;
  if (at.kind === 'notOlderThan' && progress.revision >= 0) {
    throw new FutureRevisionError(at.revision, progress.revision);
  }
  throw new UnavailableError(
    progress.revision < 0
      ? 'the cache is not filled yet'
      : `the cache does not keep up: it is at ${progress.revision} of ${wanted}`,
  );
}
