import { systemClock, type Clock } from '../clock.js';
import { CompactedError, ConflictError, FutureRevisionError, UnavailableError } from '../errors.js';
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
import { checkKey, compareKeys } from '../keys.js';
import { WatchHub, type Change } from '../watch-hub.js';

/** A store that is gone with the process: for tests of what is built on a `Backend`. */
export function createMemoryBackend(options: { readonly clock?: Clock } = {}): Backend {
  return new MemoryBackend(options.clock ?? systemClock);
}

/** So many changes of the log are handed out in one go. */
const slice = 256;

class MemoryBackend implements Backend {
  readonly #clock: Clock;
  readonly #hub: WatchHub;
  /** Every change since the start: the index is its revision less one. Compacted ones stay, unreachable. */
  readonly #log: Change[] = [];
  readonly #versions = new Map<string, Change[]>();
  readonly #timers = new Map<string, () => void>();
  #compacted = 0;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    const log = this.#log;
    const compacted = (): Revision => this.#compacted;
    this.#hub = new WatchHub({
      get current() {
        return log.length;
      },
      get compacted() {
        return compacted();
      },
      changes: (after, upTo) => Promise.resolve(log.slice(after, Math.min(upTo, after + slice))),
      valueAt: (key, revision) => Promise.resolve(this.#valueAt(key, revision)),
    });
  }

  async currentRevision(): Promise<Revision> {
    await this.#turn();
    return this.#log.length;
  }

  async get(
    key: string,
    options: { readonly revision?: Revision } = {},
  ): Promise<{ revision: Revision; kv: KeyValue | undefined }> {
    await this.#turn();
    const revision = this.#check(options.revision);
    return { revision, kv: this.#valueAt(key, revision) };
  }

  async list(prefix: string, options: ListOptions = {}): Promise<ListResult> {
    await this.#turn();
    const revision = this.#check(options.revision);
    const { after, limit = Infinity } = options;
    const items = [...this.#versions.keys()]
      .filter((key) => key.startsWith(prefix) && (after === undefined || compareKeys(key, after) > 0))
      .sort(compareKeys)
      .flatMap((key) => this.#valueAt(key, revision) ?? []);
    return { revision, items: items.slice(0, limit), more: items.length > limit };
  }

  async write(write: Write): Promise<{ revision: Revision }> {
    checkKey(write.key);
    await this.#turn();
    const { key, value, expect, ttlSeconds } = write;
    const current = this.#valueAt(key, this.#log.length);
    if ((current?.modRevision ?? 0) !== expect || (current === undefined && value === undefined)) {
      throw new ConflictError(key, current);
    }
    const revision = this.#log.length + 1;
    const createRevision = current?.createRevision ?? revision;
    const change = { key, value, revision, createRevision, previous: current?.modRevision ?? 0 };
    this.#log.push(change);
    const versions = this.#versions.get(key);
    if (versions) versions.push(change);
    else this.#versions.set(key, [change]);
    this.#setTimer(key, revision, value === undefined ? undefined : ttlSeconds);
    this.#hub.publish([change]);
    return { revision };
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
    await this.#turn();
    if (revision > this.#log.length) throw new FutureRevisionError(revision, this.#log.length);
    this.#compacted = Math.max(this.#compacted, revision);
  }

  async check(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#turn();
  }

  close(): Promise<void> {
    this.#closed = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#hub.close(closedError());
    return Promise.resolve();
  }

  /** Answers come later, as from a store that is elsewhere. */
  async #turn(): Promise<void> {
    await Promise.resolve();
    if (this.#closed) throw closedError();
  }

  #check(revision: Revision | undefined): Revision {
    if (revision === undefined) return this.#log.length;
    if (revision > this.#log.length) throw new FutureRevisionError(revision, this.#log.length);
    if (revision < this.#compacted) throw new CompactedError(revision, this.#compacted);
    return revision;
  }

  #valueAt(key: string, at: Revision): KeyValue | undefined {
    const change = this.#versions.get(key)?.findLast(({ revision }) => revision <= at);
    if (change?.value === undefined) return undefined;
    const { value, revision, createRevision } = change;
    return { key, value, modRevision: revision, createRevision };
  }

  #setTimer(key: string, revision: Revision, ttlSeconds: number | undefined): void {
    this.#timers.get(key)?.();
    this.#timers.delete(key);
    if (ttlSeconds === undefined) return;
    const expire = (): void => {
      this.#timers.delete(key);
      // Whoever wrote the key meanwhile has taken this timer away, so only a closed store can refuse.
      this.write({ key, expect: revision, value: undefined }).catch((error: unknown) => {
        if (!(error instanceof UnavailableError || error instanceof ConflictError)) throw error;
      });
    };
    this.#timers.set(key, this.#clock.timer(ttlSeconds * 1000, expire));
  }
}

const closedError = (): UnavailableError => new UnavailableError('storage is closed');
