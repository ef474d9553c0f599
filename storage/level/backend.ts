import { mkdir, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { systemClock, type Clock } from '../clock.js';
import { IncompatibleError, LockedError, StorageError, UnavailableError } from '../errors.js';
import type {
  Backend,
  BackendEvents,
  BackendWatchOptions,
  KeyValue,
  ListOptions,
  ListResult,
  Revision,
  Write,
} from '../interface.js';
import { checkKey } from '../keys.js';
import { WatchHub } from '../watch-hub.js';
import { Compactor, defaultRetention, type Retention } from './compactor.js';
import { closedError, Connection, probeFile } from './connection.js';
import { openDatabase, type Database } from './database.js';
import { Expiry } from './expiry.js';
import { Reader } from './reader.js';
import { loadState, rollBack, type State } from './state.js';
import { Writer } from './writer.js';

export interface LevelBackendOptions {
  /** Made if it does not exist. */
  readonly directory: string;
  readonly logger: Logger;
  readonly clock?: Clock;
  readonly retention?: Partial<Retention>;
  /** How LevelDB is opened. */
  readonly open?: (directory: string) => Promise<Database>;
}

/**
 * Opens the store in a directory of this machine. Rejects with `LockedError` if another process has it open, with
 * `IncompatibleError` if a newer version or another program wrote it, with `UnavailableError` if it can not be read.
 */
export async function openLevelBackend(options: LevelBackendOptions): Promise<Backend> {
  const { directory } = options;
  const open = (): Promise<Database> => (options.open ?? openDatabase)(directory);
  await prepareDirectory(directory);
  const database = await open().catch((error: unknown) => {
    throw openError(error, directory);
  });
  try {
    return new LevelBackend(options, await loadState(database, directory), database, open);
  } catch (error) {
    await database.close();
    throw error instanceof StorageError ? error : openError(error, directory);
  }
}

class LevelBackend implements Backend {
  readonly #connection: Connection;
  readonly #reader: Reader;
  readonly #writer: Writer;
  readonly #compactor: Compactor;
  readonly #expiry: Expiry;
  readonly #hub: WatchHub;

  constructor(
    options: LevelBackendOptions,
    state: State,
    database: Database,
    reopen: () => Promise<Database>,
  ) {
    const { directory, logger, clock = systemClock } = options;
    const connection = new Connection({
      directory,
      database,
      reopen,
      rollBack: async (reopened) => {
        await rollBack(reopened, state);
        // What it saw of lifetimes meanwhile may have been rolled back.
        this.#expiry.expect(clock.now());
      },
      clock,
      logger,
    });
    const reader = new Reader(state, connection);
    this.#connection = connection;
    this.#reader = reader;
    this.#hub = new WatchHub({
      get current() {
        return state.current;
      },
      get compacted() {
        return state.compacted;
      },
      changes: (after, upTo) => reader.changes(after, upTo),
      valueAt: (key, revision) => reader.valueAt(key, revision),
    });
    this.#writer = new Writer({
      state,
      connection,
      clock,
      read: async (key) => (await reader.get(key)).kv,
      committed: (records) => {
        this.#hub.publish(records);
        for (const { expires } of records) if (expires !== 0) this.#expiry.expect(expires);
      },
    });
    this.#expiry = new Expiry({ connection, clock, logger, write: (write) => this.#writer.submit(write) });
    const retention = { ...defaultRetention, ...options.retention };
    this.#compactor = new Compactor({ state, connection, clock, logger, retention });
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- so that an error is a rejection
  async currentRevision(): Promise<Revision> {
    return this.#reader.current();
  }

  async get(
    key: string,
    options: { readonly revision?: Revision } = {},
  ): Promise<{ revision: Revision; kv: KeyValue | undefined }> {
    return await this.#reader.get(key, options.revision);
  }

  async list(prefix: string, options?: ListOptions): Promise<ListResult> {
    return await this.#reader.list(prefix, options);
  }

  async write(write: Write): Promise<{ revision: Revision }> {
    checkKey(write.key);
    return { revision: await this.#writer.submit(write) };
  }

  watch(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
    options?: BackendWatchOptions,
  ): AsyncIterable<BackendEvents> {
    return this.#hub.watch(prefix, after, signal, options);
  }

  async compact(revision: Revision): Promise<void> {
    await this.#compactor.compact(revision);
  }

  async check(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { failure } = this.#connection;
    if (failure) throw failure;
    await this.#connection.read((snapshot) => snapshot.get(''));
  }

  async close(): Promise<void> {
    await this.#expiry.close();
    await this.#compactor.close();
    await this.#writer.close();
    this.#hub.close(closedError());
    await this.#connection.close();
  }
}

/** LevelDB would mix its files with whatever is there. */
async function prepareDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const names = await readdir(directory);
    if (names.includes(probeFile)) await unlink(join(directory, probeFile));
    const foreign = names.filter((name) => !levelFile.test(name));
    if (foreign.length > 0 && !names.includes('CURRENT')) {
      throw new IncompatibleError(
        `${directory} is not empty and holds no data of ours (there is ${foreign.slice(0, 3).join(', ')})`,
      );
    }
  } catch (error) {
    throw error instanceof StorageError ? error : openError(error, directory);
  }
}

const levelFile = /^(lost\+found|CURRENT|LOCK|LOG(\.old)?|PROBE|MANIFEST-\d+|\d+\.(log|ldb|sst|dbtmp))$/;

function openError(error: unknown, directory: string): StorageError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const message = cause instanceof Error ? cause.message : String(cause);
  switch (code) {
    case 'LEVEL_LOCKED':
      return new LockedError(directory);
    case 'LEVEL_CORRUPTION':
      return new IncompatibleError(`${directory} is damaged, or no data of ours: ${message}`, { cause });
    default:
      return new UnavailableError(`${directory} can not be opened: ${message}`, { cause });
  }
}
