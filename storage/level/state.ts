import { IncompatibleError, UnavailableError } from '../errors.js';
import type { Revision } from '../interface.js';
import type { Database, Operation } from './database.js';
import {
  decodeIndexValue,
  decodeRecord,
  endOf,
  expiryKey,
  formatName,
  formatVersion,
  indexKey,
  logKey,
  metaKeys,
  parseIndexKey,
  type Head,
} from './layout.js';

/** What the backend knows without asking LevelDB: everything acknowledged, except values and history. */
export interface State {
  current: Revision;
  compacted: Revision;
  pruned: Revision;
  readonly heads: Map<string, Head>;
}

const slice = 2000;

/** Reads the state, and gives a new directory its mark. `IncompatibleError` for a directory that is not ours. */
export async function loadState(database: Database, directory: string): Promise<State> {
  const snapshot = database.snapshot();
  try {
    const [format, ...numbers] = await snapshot.getMany([
      metaKeys.format,
      metaKeys.revision,
      metaKeys.compacted,
      metaKeys.pruned,
    ]);
    if (format === undefined) {
      for await (const pairs of snapshot.range({}, 1)) {
        throw new IncompatibleError(
          `${directory} holds a LevelDB of another program (its first key is ${JSON.stringify(pairs[0]?.[0])})`,
        );
      }
      await database.batch([{ type: 'put', key: metaKeys.format, value: formatMark() }], true);
    } else {
      checkFormat(format.toString(), directory);
    }
    const [current = 0, compacted = 0, pruned = 0] = numbers.map((bytes) => Number(bytes ?? 0));
    const heads = new Map<string, Head>();
    for await (const pairs of snapshot.range({ gte: 'i', lt: endOf.index }, slice)) {
      for (const [text, value] of pairs) {
        const { key, revision } = parseIndexKey(text);
        const head = decodeIndexValue(revision, value);
        if (head === undefined) heads.delete(key);
        else heads.set(key, head);
      }
    }
    return { current, compacted, pruned, heads };
  } finally {
    await snapshot.close();
  }
}

const formatMark = (): string => JSON.stringify({ name: formatName, format: formatVersion });

function checkFormat(mark: string, directory: string): void {
  let parsed: unknown;
  try {
    parsed = JSON.parse(mark);
  } catch {
    parsed = undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || !('name' in parsed) || parsed.name !== formatName) {
    throw new IncompatibleError(`${directory} holds data of another program: ${mark.slice(0, 100)}`);
  }
  const format = 'format' in parsed ? parsed.format : undefined;
  if (format !== formatVersion) {
    throw new IncompatibleError(
      `${directory} has data of format ${String(format)}, and this version reads format ${formatVersion}: use the version that wrote it, or a newer one`,
    );
  }
}

/** Undoes on disk what lies beyond the acknowledged state. */
export async function rollBack(database: Database, state: State): Promise<void> {
  const snapshot = database.snapshot();
  try {
    const stored = Number((await snapshot.get(metaKeys.revision)) ?? 0);
    if (stored < state.current) {
      throw new UnavailableError(
        `acknowledged writes are missing on disk: it ends at revision ${stored}, not ${state.current}`,
      );
    }
    const operations: Operation[] = [];
    for await (const pairs of snapshot.range({ gt: logKey(state.current), lt: endOf.log }, slice)) {
      for (const [text, bytes] of pairs) operations.push(...undo(text, bytes, state));
    }
    if (operations.length === 0) return;
    operations.push({ type: 'put', key: metaKeys.revision, value: String(state.current) });
    await database.batch(operations, true);
  } finally {
    await snapshot.close();
  }
}

function undo(text: string, bytes: Buffer, state: State): Operation[] {
  const record = decodeRecord(parseInt(text.slice(1), 16), bytes);
  const operations: Operation[] = [
    { type: 'del', key: text },
    { type: 'del', key: indexKey(record.key, record.revision) },
  ];
  if (record.expires !== 0) operations.push({ type: 'del', key: expiryKey(record.expires, record.revision) });
  const head = state.heads.get(record.key);
  if (head !== undefined && head.expires !== 0) {
    operations.push({ type: 'put', key: expiryKey(head.expires, head.modRevision), value: record.key });
  }
  return operations;
}
