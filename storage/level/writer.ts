import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../clock.js';
import { ConflictError } from '../errors.js';
import type { KeyValue, Revision, Write } from '../interface.js';
import { closedError, type Connection } from './connection.js';
import type { Operation } from './database.js';
import {
  encodeIndexValue,
  encodeRecord,
  expiryKey,
  indexKey,
  logKey,
  metaKeys,
  type Head,
  type LogRecord,
} from './layout.js';
import type { State } from './state.js';

/** One group is one LevelDB batch: it stays in memory while it is synced. */
const groupWrites = 512;
const groupBytes = 8 * 1024 * 1024;

interface Pending {
  readonly write: Write;
  readonly resolve: (revision: Revision) => void;
  readonly reject: (error: unknown) => void;
}

/** What a group does: the writes that may go ahead, and those that lost against one of the same group or before. */
interface Group {
  readonly records: { readonly pending: Pending; readonly record: LogRecord }[];
  readonly conflicts: Pending[];
  readonly heads: Map<string, Head | undefined>;
  readonly operations: Operation[];
}

export interface WriterOptions {
  readonly state: State;
  readonly connection: Connection;
  readonly clock: Clock;
  readonly read: (key: string) => Promise<KeyValue | undefined>;
  /** Called with each durable group, before its writers are answered. */
  readonly committed: (records: readonly LogRecord[]) => void;
}

/**
 * The one place where revisions are made. While a group is being synced the next one gathers, so that all writers of a
 * moment share one sync (group commit).
 */
export class Writer {
  readonly #options: WriterOptions;
  #queue: Pending[] = [];
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  submit(write: Write): Promise<Revision> {
    return new Promise((resolve, reject) => {
      const failure = this.#closed ? closedError() : this.#options.connection.failure;
      if (failure) {
        reject(failure);
        return;
      }
      this.#queue.push({ write, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Refuses new writes and waits for those under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // Whoever writes in the same turn of the event loop joins the group.
    await setImmediate();
    while (this.#queue.length > 0) await this.#commit(this.#takeGroup());
    this.#running = undefined;
  }

  #takeGroup(): Pending[] {
    let bytes = 0;
    let count = 0;
    for (const { write } of this.#queue) {
      bytes += write.value?.length ?? 0;
      if (count > 0 && (count === groupWrites || bytes > groupBytes)) break;
      count++;
    }
    return this.#queue.splice(0, count);
  }

  async #commit(pendings: readonly Pending[]): Promise<void> {
    const { state, connection, committed } = this.#options;
    const group = this.#stage(pendings);
    const last = group.records.at(-1);
    if (last !== undefined) {
      const revision = last.record.revision;
      group.operations.push({ type: 'put', key: metaKeys.revision, value: String(revision) });
      try {
        await connection.write(group.operations, true);
      } catch (error) {
        for (const pending of pendings) pending.reject(error);
        return;
      }
      state.current = revision;
      for (const [key, head] of group.heads) {
        if (head === undefined) state.heads.delete(key);
        else state.heads.set(key, head);
      }
      committed(group.records.map(({ record }) => record));
      for (const { pending, record } of group.records) pending.resolve(record.revision);
    }
    // Only now: a conflict with a write of this group is one only if that write happened.
    for (const pending of group.conflicts) void this.#refuse(pending);
  }

  #stage(pendings: readonly Pending[]): Group {
    const { state } = this.#options;
    const group: Group = { records: [], conflicts: [], heads: new Map(), operations: [] };
    let revision = state.current;
    for (const pending of pendings) {
      const { key, expect } = pending.write;
      const head = group.heads.has(key) ? group.heads.get(key) : state.heads.get(key);
      const deletesNothing = head === undefined && pending.write.value === undefined;
      if ((head?.modRevision ?? 0) !== expect || deletesNothing) group.conflicts.push(pending);
      else this.#stageRecord(group, pending, head, ++revision);
    }
    return group;
  }

  #stageRecord(group: Group, pending: Pending, head: Head | undefined, revision: Revision): void {
    const { key, value, ttlSeconds } = pending.write;
    const lives = value !== undefined && ttlSeconds !== undefined;
    const expires = lives ? Math.ceil(this.#options.clock.now() + ttlSeconds * 1000) : 0;
    const createRevision = head?.createRevision ?? revision;
    const record = { key, value, revision, createRevision, previous: head?.modRevision ?? 0, expires };
    const next = value === undefined ? undefined : { modRevision: revision, createRevision, expires };
    group.records.push({ pending, record });
    group.heads.set(key, next);
    group.operations.push(
      { type: 'put', key: logKey(revision), value: encodeRecord(record) },
      { type: 'put', key: indexKey(key, revision), value: encodeIndexValue(next) },
    );
    if (head !== undefined && head.expires !== 0) {
      group.operations.push({ type: 'del', key: expiryKey(head.expires, head.modRevision) });
    }
    if (expires !== 0) group.operations.push({ type: 'put', key: expiryKey(expires, revision), value: key });
  }

  async #refuse({ write, reject }: Pending): Promise<void> {
    try {
      reject(new ConflictError(write.key, await this.#options.read(write.key)));
    } catch (error) {
      reject(error);
    }
  }
}
