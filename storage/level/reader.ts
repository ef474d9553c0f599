import { CompactedError, FutureRevisionError, UnavailableError } from '../errors.js';
import type { KeyValue, ListOptions, ListResult, Revision } from '../interface.js';
import { prefixEnd } from '../keys.js';
import type { Change } from '../watch-hub.js';
import type { Connection } from './connection.js';
import type { Snapshot } from './database.js';
import {
  decodeIndexValue,
  decodeRecord,
  endOf,
  indexKey,
  logKey,
  parseIndexKey,
  type Head,
} from './layout.js';
import type { State } from './state.js';

const slice = 1000;
/** Values are fetched and log records read so many at a time. */
const valueSlice = 256;

interface Found {
  readonly key: string;
  readonly head: Head;
}

/** Reads of the present and of history. Each works on one snapshot, taken when the revision it shows is decided. */
export class Reader {
  readonly #state: State;
  readonly #connection: Connection;

  constructor(state: State, connection: Connection) {
    this.#state = state;
    this.#connection = connection;
  }

  /** The newest revision, from memory. */
  current(): Revision {
    return this.#check(undefined);
  }

  async get(key: string, revision?: Revision): Promise<{ revision: Revision; kv: KeyValue | undefined }> {
    const at = this.#check(revision);
    const head = this.#state.heads.get(key);
    if (at === this.#state.current && head === undefined) return { revision: at, kv: undefined };
    return await this.#connection.read(async (snapshot) => {
      const then = head !== undefined && head.modRevision <= at ? head : await headAt(snapshot, key, at);
      const kv = then && (await readValues(snapshot, [{ key, head: then }]))[0];
      return { revision: at, kv };
    });
  }

  async list(prefix: string, options: ListOptions = {}): Promise<ListResult> {
    const revision = this.#check(options.revision);
    return await this.#connection.read(async (snapshot) => {
      const { found, more } = await this.#find(snapshot, prefix, revision, options);
      return { revision, items: await readValues(snapshot, found), more };
    });
  }

  /** The next changes of the log behind `after`, at most some hundreds. */
  async changes(after: Revision, upTo: Revision): Promise<readonly Change[]> {
    if (after >= upTo) return [];
    return await this.#connection.read(async (snapshot) => {
      for await (const pairs of snapshot.range({ gt: logKey(after), lte: logKey(upTo) }, valueSlice)) {
        return pairs.map(([text, bytes]) => decodeRecord(parseInt(text.slice(1), 16), bytes));
      }
      return [];
    });
  }

  async valueAt(key: string, revision: Revision): Promise<KeyValue | undefined> {
    return await this.#connection.read(async (snapshot) => {
      const bytes = await snapshot.get(logKey(revision));
      if (bytes === undefined) return undefined;
      const { value, createRevision } = decodeRecord(revision, bytes);
      return value && { key, value, modRevision: revision, createRevision };
    });
  }

  #check(revision: Revision | undefined): Revision {
    this.#connection.assertOpen();
    const { current, compacted } = this.#state;
    if (revision === undefined) return current;
    if (revision > current) throw new FutureRevisionError(revision, current);
    if (revision < compacted) throw new CompactedError(revision, compacted);
    return revision;
  }

  /** Walks the index, where the last entry of a key up to `at` says what it held. */
  async #find(
    snapshot: Snapshot,
    prefix: string,
    at: Revision,
    { limit = Infinity, after }: ListOptions,
  ): Promise<{ found: Found[]; more: boolean }> {
    const found: Found[] = [];
    const end = prefixEnd(prefix);
    const from =
      after !== undefined && after >= prefix
        ? { gt: indexKey(after, Number.MAX_SAFE_INTEGER) }
        : { gte: `i${prefix}` };
    let key: string | undefined;
    let head: Head | undefined;
    const settle = (): void => {
      if (key !== undefined && head !== undefined) found.push({ key, head });
    };
    walk: for await (const pairs of snapshot.range(
      { ...from, lt: end === undefined ? endOf.index : `i${end}` },
      slice,
    )) {
      for (const [text, value] of pairs) {
        const entry = parseIndexKey(text);
        if (entry.key !== key) {
          settle();
          if (found.length > limit) break walk;
          key = entry.key;
          head = undefined;
        }
        if (entry.revision <= at) head = decodeIndexValue(entry.revision, value);
      }
    }
    if (found.length <= limit) settle();
    return found.length > limit ? { found: found.slice(0, limit), more: true } : { found, more: false };
  }
}

async function headAt(snapshot: Snapshot, key: string, at: Revision): Promise<Head | undefined> {
  const range = { gte: indexKey(key, 0), lte: indexKey(key, at), reverse: true };
  for await (const [newest] of snapshot.range(range, 1)) {
    return newest && decodeIndexValue(parseIndexKey(newest[0]).revision, newest[1]);
  }
  return undefined;
}

async function readValues(snapshot: Snapshot, found: readonly Found[]): Promise<KeyValue[]> {
  const items: KeyValue[] = [];
  for (let i = 0; i < found.length; i += valueSlice) {
    const part = found.slice(i, i + valueSlice);
    const records = await snapshot.getMany(part.map(({ head }) => logKey(head.modRevision)));
    part.forEach(({ key, head: { modRevision, createRevision } }, index) => {
      const bytes = records[index];
      const value = bytes && decodeRecord(modRevision, bytes).value;
      if (value === undefined)
        throw new UnavailableError(`the value of ${key} at revision ${modRevision} is missing`);
      items.push({ key, value, modRevision, createRevision });
    });
  }
  return items;
}
