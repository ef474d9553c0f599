import { open as openFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import { StorageError, UnavailableError } from '../errors.js';
import type { Database, Operation, Snapshot } from './database.js';

/** Written to learn whether the disk has space again. LevelDB ignores it. */
export const probeFile = 'PROBE';
const probeBytes = 1024 * 1024;
const retryMilliseconds = 1000;

type Status =
  | { readonly kind: 'open'; readonly database: Database }
  /** A write failed, so what LevelDB's log ends with is unknown. Reads still work while there is a database. */
  | { readonly kind: 'failing'; readonly database: Database | undefined; readonly cause: unknown }
  | { readonly kind: 'closed' };

export interface ConnectionOptions {
  readonly directory: string;
  readonly database: Database;
  readonly reopen: () => Promise<Database>;
  /** Brings a database that was opened again after a failure to the state that was acknowledged. */
  readonly rollBack: (database: Database) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The open LevelDB. After a failed write nothing may follow it in LevelDB's log, or later records could be lost behind a
 * torn one: the connection then refuses writes, waits until the disk takes data again, opens LevelDB anew (which trims
 * the log) and rolls back what was not acknowledged.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  #status: Status;
  #cancelRetry: (() => void) | undefined;
  #recovery: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#status = { kind: 'open', database: options.database };
  }

  /** Why writes are refused, if they are. */
  get failure(): UnavailableError | undefined {
    switch (this.#status.kind) {
      case 'open':
        return undefined;
      case 'closed':
        return closedError();
      case 'failing':
        return unavailable(this.#status.cause, 'storage can not write');
    }
  }

  /** Throws once the connection is closed. Answers from memory ask it. */
  assertOpen(): void {
    if (this.#status.kind === 'closed') throw closedError();
  }

  async read<T>(use: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const { database } = this.#status.kind === 'closed' ? { database: undefined } : this.#status;
    if (database === undefined) throw this.failure ?? closedError();
    let snapshot: Snapshot | undefined;
    try {
      snapshot = database.snapshot();
      return await use(snapshot);
    } catch (error) {
      throw error instanceof StorageError ? error : unavailable(error, 'storage can not read');
    } finally {
      await snapshot?.close();
    }
  }

  async write(operations: readonly Operation[], sync: boolean): Promise<void> {
    if (this.#status.kind !== 'open') throw this.failure ?? closedError();
    const { database } = this.#status;
    try {
      await database.batch(operations, sync);
    } catch (error) {
      this.#fail(database, error);
      throw unavailable(error, 'storage can not write');
    }
  }

  async compactRange(from: string, to: string): Promise<void> {
    if (this.#status.kind !== 'open') return;
    try {
      await this.#status.database.compactRange(from, to);
    } catch (error) {
      throw unavailable(error, 'storage can not compact');
    }
  }

  async close(): Promise<void> {
    const status = this.#status;
    if (status.kind === 'closed') return;
    this.#cancelRetry?.();
    await this.#recovery;
    const { database } = this.#status.kind === 'closed' ? { database: undefined } : this.#status;
    this.#status = { kind: 'closed' };
    await database?.close();
  }

  #fail(database: Database | undefined, cause: unknown): void {
    if (this.#status.kind === 'closed') return;
    if (this.#status.kind === 'open') {
      this.#options.logger.error(
        { err: cause, directory: this.#options.directory },
        'storage refuses writes until the disk takes data again',
      );
    }
    this.#status = { kind: 'failing', database, cause };
    this.#cancelRetry?.();
    this.#cancelRetry = this.#options.clock.timer(retryMilliseconds, () => {
      this.#recovery = this.#recover();
    });
  }

  async #recover(): Promise<void> {
    if (this.#status.kind !== 'failing') return;
    let { database } = this.#status;
    try {
      await probe(this.#options.directory);
      await database?.close();
      database = undefined;
      this.#status = { ...this.#status, database };
      database = await this.#options.reopen();
      await this.#options.rollBack(database);
      this.#status = { kind: 'open', database };
      this.#options.logger.info({ directory: this.#options.directory }, 'storage takes writes again');
    } catch (error) {
      this.#fail(database, error);
    }
  }
}

async function probe(directory: string): Promise<void> {
  const path = join(directory, probeFile);
  try {
    const file = await openFile(path, 'w');
    try {
      await file.writeFile(Buffer.alloc(probeBytes));
      await file.sync();
    } finally {
      await file.close();
    }
  } finally {
    await unlink(path);
  }
}

export const closedError = (): UnavailableError => new UnavailableError('storage is closed');

function unavailable(cause: unknown, what: string): UnavailableError {
  return new UnavailableError(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, {
    cause,
  });
}
