import { ConflictError, StorageError } from '../../storage/errors.js';
import type { Entry, Revision } from '../../storage/interface.js';
import { conflict, notFound } from '../errors/api-error.js';
import { changedMeanwhile } from '../errors/status.js';
import { readEntry, type Endpoint } from './endpoint.js';
import { objectKey, type ObjectReference } from './keys.js';

type Outcome<T> =
  { readonly kind: 'done'; readonly result: T } | { readonly kind: 'failed'; readonly error: unknown };

export interface NewestOptions<T extends { readonly revision: Revision | undefined }> {
  /** Called again when another write came first. Its result has the revision of its entry if it wrote nothing. */
  readonly attempt: (entry: Entry) => Promise<T>;
  readonly attempts: number;
}

/**
 * Writes on top of the newest state without asking the store for it first: what the cache has is mostly that, and the compare and swap
 * shows whether it was. What comes of it otherwise (an error, or nothing to write) counts only once the store says that nothing newer
 * is there. Rejects with Conflict if others came first each time, with NotFound if there is no such object.
 */
export async function onNewest<T extends { readonly revision: Revision | undefined }>(
  endpoint: Endpoint,
  reference: ObjectReference,
  { attempt, attempts }: NewestOptions<T>,
): Promise<T> {
  const { group, plural } = endpoint.resource;
  const cached = await endpoint.store.get(objectKey(endpoint.resource, reference), { kind: 'any' });
  let entry = cached ?? (await readEntry(endpoint, reference));
  let isNewest = cached === undefined;
  for (let left = attempts; ; left--) {
    const outcome = await settle(attempt(entry));
    if (outcome.kind === 'done' && (isNewest || outcome.result.revision !== entry.revision))
      return outcome.result;
    if (outcome.kind === 'failed' && outcome.error instanceof ConflictError) {
      const { current } = outcome.error as ConflictError<Entry>;
      if (left === 1) throw conflict(group, plural, reference.name, changedMeanwhile);
      if (current === undefined) throw notFound(group, plural, reference.name);
      entry = current;
    } else {
      // A write without an answer may have been done: to try again would meet what it did.
      if (outcome.kind === 'failed' && outcome.error instanceof StorageError) throw outcome.error;
      const newest = isNewest ? entry : await readEntry(endpoint, reference);
      if (newest.revision === entry.revision) return unwrap(outcome);
      entry = newest;
    }
    isNewest = true;
  }
}

async function settle<T>(attempt: Promise<T>): Promise<Outcome<T>> {
  try {
    return { kind: 'done', result: await attempt };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

function unwrap<T>(outcome: Outcome<T>): T {
  if (outcome.kind === 'failed') throw outcome.error;
  return outcome.result;
}
