/** Turns whatever was thrown while a request was served into an `ApiError`, which is a Status already. */
import {
  CompactedError,
  ConflictError,
  FutureRevisionError,
  StorageError,
  UnavailableError,
} from '../../storage/errors.js';
import { ApiError, conflict } from './api-error.js';

/** What the failed request was about, as far as it is known. */
export interface Subject {
  readonly group: string;
  readonly resource: string;
  readonly name: string | undefined;
}

export const changedMeanwhile =
  'the object has been modified; please apply your changes to the latest version and try again';

/** The history that a list or watch wants to start from is gone. */
export function expired(message: string): ApiError {
  return new ApiError('Expired', message);
}

export function futureRevision(error: FutureRevisionError): ApiError {
  return new ApiError(
    'Timeout',
    `Timeout: Too large resource version: ${error.requested}, current: ${error.current}`,
    {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  );
}

function ofStorage(error: StorageError, subject: Subject | undefined): ApiError {
  if (error instanceof ConflictError) {
    const { group = '', resource = 'objects' } = subject ?? {};
    const why = error.current === undefined ? 'the object has been deleted' : changedMeanwhile;
    return conflict(group, resource, subject?.name ?? error.key, why);
  }
  if (error instanceof CompactedError) {
    return expired(`too old resource version: ${error.requested} (${error.oldest})`);
  }
  if (error instanceof FutureRevisionError) return futureRevision(error);
  switch (error.code) {
    case 'SlowReader':
      return expired(error.message);
    case 'TooLarge':
      return new ApiError('RequestEntityTooLarge', error.message);
    case 'Unavailable':
    case 'Locked':
    case 'Incompatible':
    case 'Conflict':
    case 'Compacted':
    case 'FutureRevision':
      return new ApiError(
        'ServiceUnavailable',
        `the storage is not available: ${error.message}`,
        // Clients repeat by themselves what they are told to: a write that may have been done would then conflict with itself.
        error instanceof UnavailableError && error.uncertain ? undefined : { retryAfterSeconds: 1 },
      );
  }
}

/** The Status for `error`. What is neither an ApiError nor a StorageError is a fault of ours: 500, with the cause kept. */
export function toApiError(error: unknown, subject?: Subject): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StorageError) return ofStorage(error, subject);
  const message = error instanceof Error ? error.message : String(error);
  return new ApiError('InternalError', `Internal error occurred: ${message}`, undefined, { cause: error });
}
