import { SlowReaderError } from '../errors.js';
import type { Revision, Watch, WatchEvent, WatchOptions } from '../interface.js';
import type { Change } from './change.js';

/** Brings a watcher to the present: what it is told before it is fed live changes. */
export type Prelude = (watcher: Watcher, signal: AbortSignal) => AsyncIterator<readonly WatchEvent[], void>;

/** What a watcher needs of its store. */
export interface WatcherHost {
  /** Everything up to here has been offered to the watchers. */
  readonly revision: Revision;
  /** The watcher has events for a reader who waits. */
  wake(watcher: Watcher): void;
  forget(watcher: Watcher): void;
}

type State =
  | {
      readonly kind: 'prelude';
      readonly source: AsyncIterator<readonly WatchEvent[], void>;
      /** What it says first, once somebody has asked. */
      first?: Promise<readonly WatchEvent[] | undefined> | undefined;
    }
  | { readonly kind: 'live' }
  /** What is queued is still handed out. */
  | { readonly kind: 'ending' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'failed'; readonly error: unknown };

/** One watch in flight, from the store's side and from the reader's. */
export class Watcher implements Watch {
  readonly options: WatchOptions;
  readonly #host: WatcherHost;
  readonly #queueLength: number;
  readonly #abort = new AbortController();
  #state: State;
  #queue: WatchEvent[] = [];
  /** Changes up to here are not for this watcher: its prelude tells them, or it began behind them. */
  #position: Revision = 0;
  #waiting: (() => void) | undefined;

  constructor(options: WatchOptions, host: WatcherHost, queueLength: number, prelude: Prelude) {
    this.options = options;
    this.#host = host;
    this.#queueLength = queueLength;
    this.#state = { kind: 'prelude', source: prelude(this, this.#abort.signal) };
    if (options.signal.aborted) this.close();
    else options.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** From now on the store offers it the changes behind `position`. */
  join(position: Revision): void {
    this.#position = position;
  }

  offer(change: Change): void {
    if (change.revision <= this.#position) return;
    const event = change.eventFor(this.options.matches);
    if (event !== undefined) this.#push(event);
  }

  bookmark(): void {
    if (this.#state.kind !== 'live' || !this.options.bookmarks || this.#host.revision < this.#position)
      return;
    this.#push({ type: 'BOOKMARK', revision: this.#host.revision, initialEventsEnd: false });
  }

  fail(error: unknown): void {
    if (this.#isOver()) return;
    this.#finish({ kind: 'failed', error });
    this.#queue = [];
  }

  /** Hands out what is queued, tells how far that reaches, and ends. */
  end(): void {
    if (this.#isOver()) return;
    const live = this.#state.kind === 'live';
    this.bookmark();
    if (!this.#isOver()) this.#finish({ kind: live ? 'ending' : 'ended' });
  }

  close(): void {
    if (!this.#isOver() || this.#state.kind === 'ending') this.#finish({ kind: 'ended' });
    this.#queue = [];
  }

  /** Lets the waiting reader have what is queued. */
  flush(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }

  async begin(): Promise<void> {
    if (this.#state.kind === 'prelude') await (this.#state.first ??= this.#pull(this.#state.source));
  }

  async next(): Promise<readonly WatchEvent[] | undefined> {
    for (;;) {
      const state = this.#state;
      switch (state.kind) {
        case 'prelude': {
          const first = state.first;
          state.first = undefined;
          const events = await (first ?? this.#pull(state.source));
          if (events !== undefined) return events;
          break;
        }
        case 'live':
          if (this.#queue.length > 0) return this.#take();
          await new Promise<void>((resolve) => {
            this.#waiting = resolve;
          });
          break;
        case 'ending':
          if (this.#queue.length > 0) return this.#take();
          this.#state = { kind: 'ended' };
          break;
        case 'ended':
          return undefined;
        case 'failed':
          throw state.error;
      }
    }
  }

  readonly #onAbort = (): void => {
    this.end();
  };

  #isOver(): boolean {
    return this.#state.kind !== 'prelude' && this.#state.kind !== 'live';
  }

  /** The next events of the prelude; none if it is over, or the watch ended meanwhile. */
  async #pull(
    source: AsyncIterator<readonly WatchEvent[], void>,
  ): Promise<readonly WatchEvent[] | undefined> {
    try {
      const { done, value } = await source.next();
      if (this.#isOver()) return undefined;
      if (done !== true) return value.length > 0 ? value : undefined;
      this.#state = { kind: 'live' };
    } catch (error) {
      this.fail(error);
    }
    return undefined;
  }

  #push(event: WatchEvent): void {
    if (this.#queue.length >= this.#queueLength) {
      this.fail(new SlowReaderError(this.#queue.length));
      return;
    }
    this.#queue.push(event);
    if (this.#waiting !== undefined) this.#host.wake(this);
  }

  #take(): readonly WatchEvent[] {
    const events = this.#queue;
    this.#queue = [];
    return events;
  }

  #finish(state: State): void {
    this.#state = state;
    this.#host.forget(this);
    this.options.signal.removeEventListener('abort', this.#onAbort);
    this.#abort.abort();
    this.flush();
  }
}
