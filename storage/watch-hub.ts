import { CompactedError, type UnavailableError } from './errors.js';
import type { BackendEvents, BackendWatchOptions, KeyValue, Revision } from './interface.js';

/** One write, as the log of a backend holds it. */
export interface Change {
  readonly revision: Revision;
  readonly key: string;
  /** `undefined`: the key was deleted. */
  readonly value: Buffer | undefined;
  readonly createRevision: Revision;
  /** The revision of what the key held before; 0 if nothing. */
  readonly previous: Revision;
}

/** What the hub needs of the backend whose watches it serves. */
export interface ChangeLog {
  readonly current: Revision;
  readonly compacted: Revision;
  /** The first changes behind `after` up to `upTo`, in order, some at a time; empty if there are none. */
  changes(after: Revision, upTo: Revision): Promise<readonly Change[]>;
  /** What was written to `key` at `revision`, if history still holds it. */
  valueAt(key: string, revision: Revision): Promise<KeyValue | undefined>;
}

/** How many changes wait for a reader before it must fetch them from the log again. */
const queueLength = 4096;

/**
 * Watches of a backend in this process. A reader first reads the log up to now, then is fed each commit. One that falls
 * behind goes back to the log, so that it misses nothing and holds no memory.
 */
export class WatchHub {
  readonly #log: ChangeLog;
  readonly #readers = new Set<Reader>();
  #closed: UnavailableError | undefined;

  constructor(log: ChangeLog) {
    this.#log = log;
  }

  /** Hands on the changes of one commit. `log.current` must already include them. */
  publish(changes: readonly Change[]): void {
    for (const reader of this.#readers) reader.offer(changes);
  }

  close(reason: UnavailableError): void {
    this.#closed = reason;
    for (const reader of this.#readers) reader.wake();
  }

  async *watch(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
    options: BackendWatchOptions = {},
  ): AsyncGenerator<BackendEvents, void, undefined> {
    const reader = new Reader(prefix);
    const wake = (): void => reader.wake();
    const aborted = (): boolean => signal.aborted;
    signal.addEventListener('abort', wake);
    this.#readers.add(reader);
    try {
      let position = after;
      while (!aborted()) {
        if (this.#closed) throw this.#closed;
        if (reader.lagging) {
          const upTo = this.#log.current;
          reader.restart();
          for await (const change of this.#history(position, upTo)) {
            if (aborted()) return;
            if (change.key.startsWith(prefix)) yield await this.#toEvents(change, options);
          }
          position = Math.max(position, upTo);
          yield { revision: upTo, events: [] };
          continue;
        }
        const item = reader.take();
        if (item === undefined) {
          await reader.wait();
        } else if (item.revision > position) {
          position = item.revision;
          yield 'progress' in item ? { revision: position, events: [] } : await this.#toEvents(item, options);
        }
      }
    } finally {
      this.#readers.delete(reader);
      signal.removeEventListener('abort', wake);
    }
  }

  async *#history(after: Revision, upTo: Revision): AsyncGenerator<Change, void, undefined> {
    let position = after;
    do {
      const changes = await this.#log.changes(position, upTo);
      if (position < this.#log.compacted) throw new CompactedError(position, this.#log.compacted);
      const last = changes.at(-1);
      if (last === undefined) return;
      yield* changes;
      position = last.revision;
    } while (position < upTo);
  }

  async #toEvents(change: Change, options: BackendWatchOptions): Promise<BackendEvents> {
    const { key, revision, createRevision, value } = change;
    let previous: KeyValue | undefined;
    if (options.previous !== false && change.previous !== 0) {
      previous = await this.#log.valueAt(key, change.previous);
      if (previous === undefined) throw new CompactedError(change.previous, this.#log.compacted);
    }
    const kv = { key, createRevision, modRevision: revision, value: value ?? previous?.value ?? nothing };
    return { revision, events: [{ type: value === undefined ? 'delete' : 'put', key, kv, previous }] };
  }
}

const nothing = Buffer.alloc(0);

type Item = Change | { readonly progress: true; readonly revision: Revision };

/** The queue of one watch. */
class Reader {
  readonly #prefix: string;
  #queue: Item[] = [];
  #taken = 0;
  #resolve: (() => void) | undefined;
  /** The queue does not hold all there is: read the log first. */
  lagging = true;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  restart(): void {
    this.lagging = false;
    this.#queue = [];
    this.#taken = 0;
  }

  offer(changes: readonly Change[]): void {
    if (this.lagging) return;
    for (const change of changes) {
      if (change.key.startsWith(this.#prefix)) this.#queue.push(change);
    }
    const last = changes.at(-1);
    if (last !== undefined && !last.key.startsWith(this.#prefix)) this.#progress(last.revision);
    if (this.#queue.length - this.#taken > queueLength) {
      this.restart();
      this.lagging = true;
    }
    this.wake();
  }

  #progress(revision: Revision): void {
    const tail = this.#queue.length > this.#taken ? this.#queue.at(-1) : undefined;
    if (tail !== undefined && 'progress' in tail) this.#queue.pop();
    this.#queue.push({ progress: true, revision });
  }

  take(): Item | undefined {
    const item = this.#queue[this.#taken];
    if (item === undefined) return undefined;
    this.#taken++;
    if (this.#taken === this.#queue.length) {
      this.#queue = [];
      this.#taken = 0;
    }
    return item;
  }

  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  wake(): void {
    this.#resolve?.();
    this.#resolve = undefined;
  }
}
