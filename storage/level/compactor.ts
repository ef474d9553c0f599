import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import { FutureRevisionError } from '../errors.js';
import type { Revision } from '../interface.js';
import type { Connection } from './connection.js';
import type { Operation } from './database.js';
import { decodeRecord, indexKey, logKey, metaKeys } from './layout.js';
import type { State } from './state.js';

/** How much history is kept for exact reads and watches. What exceeds either bound goes. */
export interface Retention {
  readonly milliseconds: number;
  readonly revisions: number;
}

export const defaultRetention: Retention = { milliseconds: 5 * 60_000, revisions: 200_000 };

/** So many log records are looked at in one go; other work runs between two. */
const slice = 500;
/** LevelDB is told to rewrite a range once this much in it has been deleted. */
const reclaimBytes = 64 * 1024 * 1024;
/** A retention period is checked so many times. */
const steps = 10;

export interface CompactorOptions {
  readonly state: State;
  readonly connection: Connection;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly retention: Retention;
}

/** Forgets history: on demand, and by itself as `retention` says. */
export class Compactor {
  readonly #options: CompactorOptions;
  /** What the newest revision was at earlier steps, oldest first. */
  #marks: { readonly time: number; readonly revision: Revision }[] = [];
  #cancelTimer: () => void = () => undefined;
  #pruning: Promise<void> = Promise.resolve();
  #reclaimable = { bytes: 0, from: 0 };
  #closed = false;

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.#reclaimable.from = options.state.pruned;
    this.#schedule();
  }

  /** Resolves when the superseded records are deleted. Readers get `CompactedError` from the start. */
  async compact(revision: Revision): Promise<void> {
    const { state, connection } = this.#options;
    if (revision > state.current) throw new FutureRevisionError(revision, state.current);
    if (revision > state.compacted) {
      state.compacted = revision;
      await connection.write([{ type: 'put', key: metaKeys.compacted, value: String(revision) }], true);
    }
    const turn = this.#pruning.then(() => this.#prune());
    this.#pruning = turn.catch(() => undefined);
    await turn;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelTimer();
    await this.#pruning;
  }

  #schedule(): void {
    const { clock, retention } = this.#options;
    this.#cancelTimer = clock.timer(retention.milliseconds / steps, () => void this.#step());
  }

  async #step(): Promise<void> {
    const { state, clock, retention, logger } = this.#options;
    const now = clock.now();
    let target = state.current - retention.revisions;
    this.#marks.push({ time: now, revision: state.current });
    for (let mark = this.#marks[0]; mark !== undefined; mark = this.#marks[0]) {
      // A clock that was set back must not stop compaction: there are never more marks than steps.
      if (mark.time > now - retention.milliseconds && this.#marks.length <= steps + 1) break;
      target = Math.max(target, mark.revision);
      this.#marks.shift();
    }
    try {
      if (target > state.compacted || state.pruned < state.compacted) {
        await this.compact(Math.max(target, state.compacted));
      }
    } catch (error) {
      logger.warn({ err: error, revision: target }, 'compaction failed; it will be tried again');
    }
    if (!this.#closed) this.#schedule();
  }

  /** Deletes what `compacted` made superfluous: versions superseded at or before it, and deletions. */
  async #prune(): Promise<void> {
    const { state } = this.#options;
    while (state.pruned < state.compacted && !this.#closed) {
      await this.#pruneSlice(state.pruned, state.compacted);
    }
    await this.#reclaim();
  }

  async #pruneSlice(from: Revision, to: Revision): Promise<void> {
    const { state, connection } = this.#options;
    const operations: Operation[] = [];
    let reached = to;
    await connection.read(async (snapshot) => {
      for await (const pairs of snapshot.range({ gt: logKey(from), lte: logKey(to) }, slice)) {
        for (const [text, bytes] of pairs) {
          const record = decodeRecord(parseInt(text.slice(1), 16), bytes);
          if (record.previous !== 0) operations.push(...forget(record.key, record.previous));
          if (record.value === undefined) operations.push(...forget(record.key, record.revision));
          reached = record.revision;
          this.#reclaimable.bytes += bytes.length;
        }
        return;
      }
      reached = to;
    });
    operations.push({ type: 'put', key: metaKeys.pruned, value: String(reached) });
    await connection.write(operations, false);
    state.pruned = reached;
  }

  async #reclaim(): Promise<void> {
    if (this.#reclaimable.bytes < reclaimBytes || this.#closed) return;
    const { from } = this.#reclaimable;
    const to = this.#options.state.pruned;
    this.#reclaimable = { bytes: 0, from: to };
    await this.#options.connection.compactRange(logKey(from), logKey(to));
  }
}

const forget = (key: string, revision: Revision): Operation[] => [
  { type: 'del', key: logKey(revision) },
  { type: 'del', key: indexKey(key, revision) },
];
