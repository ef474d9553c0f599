import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pino } from 'pino';
import { openLevelBackend, type LevelBackendOptions } from '../level/backend.js';
import { openDatabase, type Database } from '../level/database.js';
import type { Backend } from '../interface.js';
import type { BackendFixture } from './backend-fixture.js';
import { createManualClock } from './manual-clock.js';

export const silent = pino({ level: 'silent' });

const cleanups = new WeakMap<TestContext, (() => unknown)[]>();

/** Does it after the test. What was asked for last is done first, unlike with `t.after`. */
export function afterTest(t: TestContext, cleanup: () => unknown): void {
  const known = cleanups.get(t);
  if (known !== undefined) {
    known.push(cleanup);
    return;
  }
  const stack = [cleanup];
  cleanups.set(t, stack);
  t.after(async () => {
    for (const next of stack.toReversed()) await next();
  });
}

/** A directory that is gone after the test. */
export async function makeDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'nativirt-level-'));
  afterTest(t, () => rm(directory, { recursive: true }));
  return directory;
}

/** A backend that is closed after the test. */
export async function openLevel(
  t: TestContext,
  options: Omit<LevelBackendOptions, 'logger'>,
): Promise<Backend> {
  const backend = await openLevelBackend({ logger: silent, ...options });
  afterTest(t, () => backend.close());
  return backend;
}

/** For the contract suites. */
export async function openLevelFixture(t: TestContext): Promise<BackendFixture> {
  const clock = createManualClock();
  const backend = await openLevel(t, { directory: await makeDirectory(t), clock });
  return {
    backend,
    passSeconds: (seconds) => {
      clock.advance(seconds * 1000);
      return Promise.resolve();
    },
  };
}

/** Keys that are in LevelDB, of a directory that nobody has open. */
export async function readKeys(directory: string): Promise<string[]> {
  const database = await openDatabase(directory);
  const snapshot = database.snapshot();
  const keys: string[] = [];
  for await (const pairs of snapshot.range({}, 1000)) keys.push(...pairs.map(([key]) => key));
  await snapshot.close();
  await database.close();
  return keys;
}

/** A LevelDB whose disk a test can fill. */
export class FailingDisk {
  /** How the next batches fail: not at all, before anything is written, or after the log took them. */
  fails: 'not' | 'before' | 'after' = 'not';
  /** Whether the database can be opened again. */
  opens = true;
  opened = 0;

  readonly open = async (directory: string): Promise<Database> => {
    if (!this.opens) throw ioError('open');
    this.opened++;
    const database = await openDatabase(directory);
    return {
      snapshot: () => database.snapshot(),
      compactRange: (from, to) => database.compactRange(from, to),
      close: () => database.close(),
      batch: async (operations, sync) => {
        if (this.fails === 'before') throw ioError('write');
        await database.batch(operations, sync);
        if (this.fails === 'after') throw ioError('sync');
      },
    };
  };
}

const ioError = (what: string): Error =>
  Object.assign(new Error(`IO error: ${what}: No space left on device`), { code: 'LEVEL_IO_ERROR' });
