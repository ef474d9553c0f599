import { Level } from 'level';

/** What the backend needs of LevelDB. Keys are UTF-8 text, in bytewise order. Tests put a failing one in its place. */
export interface Database {
  /** The state as it is now, for several reads. Must be closed: an open one keeps LevelDB from freeing space. */
  snapshot(): Snapshot;
  /** Atomic. With `sync`, durable when it resolves. */
  batch(operations: readonly Operation[], sync: boolean): Promise<void>;
  /** Rewrites the files of a range, which frees the space of deleted keys. */
  compactRange(from: string, to: string): Promise<void>;
  close(): Promise<void>;
}

export interface Snapshot {
  get(key: string): Promise<Buffer | undefined>;
  getMany(keys: readonly string[]): Promise<readonly (Buffer | undefined)[]>;
  /** Pairs of the range in slices of at most `slice`. */
  range(range: Range, slice: number): AsyncIterable<readonly (readonly [string, Buffer])[]>;
  close(): Promise<void>;
}

export interface Range {
  readonly gt?: string;
  readonly gte?: string;
  readonly lt?: string;
  readonly lte?: string;
  readonly reverse?: boolean;
}

export type Operation =
  | { readonly type: 'put'; readonly key: string; readonly value: Buffer | string }
  | { readonly type: 'del'; readonly key: string };

/** What classic-level has beyond the types of `level`, which describe what it shares with browsers. */
interface NodeLevel {
  compactRange(from: string, to: string): Promise<void>;
  getMany(
    keys: string[],
    options: { snapshot: ReturnType<Level['snapshot']>; fillCache: boolean },
  ): Promise<(Buffer | undefined)[]>;
  get(key: string, options: { snapshot: ReturnType<Level['snapshot']> }): Promise<Buffer | undefined>;
  batch(operations: Operation[], options: { sync: boolean }): Promise<void>;
}

/** Opens, or creates, the LevelDB in `directory`. Fails with LevelDB's own errors. */
export async function openDatabase(directory: string): Promise<Database> {
  const level = new Level<string, Buffer>(directory, {
    keyEncoding: 'utf8',
    valueEncoding: 'buffer',
  });
  await level.open();
  // Under Node, `level` is classic-level.
  const node = level as unknown as NodeLevel;
  return {
    snapshot: () => openSnapshot(level, node),
    batch: (operations, sync) => node.batch([...operations], { sync }),
    compactRange: (from, to) => node.compactRange(from, to),
    close: () => level.close(),
  };
}

function openSnapshot(level: Level<string, Buffer>, node: NodeLevel): Snapshot {
  const snapshot = level.snapshot();
  return {
    get: (key) => node.get(key, { snapshot }),
    getMany: (keys) => node.getMany([...keys], { snapshot, fillCache: false }),
    async *range(range, slice) {
      const iterator = level.iterator({ ...range, snapshot, highWaterMarkBytes: 1024 * 1024 });
      try {
        for (;;) {
          const pairs = await iterator.nextv(slice);
          if (pairs.length === 0) return;
          yield pairs;
        }
      } finally {
        await iterator.close();
      }
    },
    close: () => snapshot.close(),
  };
}
