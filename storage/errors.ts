/** Every error that storage may raise. The API server translates them to Status in `apiserver/errors/`. */

export abstract class StorageError extends Error {
  abstract readonly code:
    | 'Conflict'
    | 'Compacted'
    | 'FutureRevision'
    | 'SlowReader'
    | 'Unavailable'
    | 'TooLarge'
    | 'Locked'
    | 'Incompatible';
  override get name(): string {
    return this.constructor.name;
  }
}

/** The key is not as the write expected. `current` is what it holds now: an Entry or KeyValue, or nothing. */
export class ConflictError<T> extends StorageError {
  readonly code = 'Conflict';
  constructor(
    readonly key: string,
    readonly current: T | undefined,
  ) {
    super(current === undefined ? `${key} does not exist` : `${key} has changed or exists already`);
  }
}

/** History before `oldest` is gone. */
export class CompactedError extends StorageError {
  readonly code = 'Compacted';
  constructor(
    readonly requested: number,
    readonly oldest: number,
  ) {
    super(`revision ${requested} is too old: history begins at ${oldest}`);
  }
}

/** The store has not reached the revision that was asked for. */
export class FutureRevisionError extends StorageError {
  readonly code = 'FutureRevision';
  constructor(
    readonly requested: number,
    readonly current: number,
  ) {
    super(`revision ${requested} lies in the future: the newest is ${current}`);
  }
}

/** The watcher did not keep up with its events, so some were dropped. */
export class SlowReaderError extends StorageError {
  readonly code = 'SlowReader';
  constructor(readonly queued: number) {
    super(`the watcher fell ${queued} events behind`);
  }
}

/** The store does not answer, or can not write (a full disk, a lost quorum). */
export class UnavailableError extends StorageError {
  readonly code = 'Unavailable';
  /** Of a write: it may have been done all the same, or may yet be. */
  readonly uncertain: boolean;
  constructor(
    message: string,
    { uncertain = false, ...options }: ErrorOptions & { uncertain?: boolean } = {},
  ) {
    super(message, options);
    this.uncertain = uncertain;
  }
}

/** The store takes no value of this size. */
export class TooLargeError extends StorageError {
  readonly code = 'TooLarge';
  constructor(
    readonly key: string,
    readonly bytes: number,
  ) {
    super(`the ${bytes} bytes of ${key} are more than the store takes at once`);
  }
}

/** Another process has the data directory open. */
export class LockedError extends StorageError {
  readonly code = 'Locked';
  constructor(readonly directory: string) {
    super(`${directory} is in use by another process`);
  }
}

/** The data was written by a newer version, or is no data of ours. */
export class IncompatibleError extends StorageError {
  readonly code = 'Incompatible';
}
