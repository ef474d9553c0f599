import type { Clock } from '../clock.js';
import type { Revision } from '../interface.js';
import type { WatchStream } from './connection.js';

/** Events mostly come by themselves in this time. */
const graceMilliseconds = 20;
/** etcd leaves a progress request unanswered while the watch has events ahead of it. */
const retryMilliseconds = 200;

export interface OpenWatchOptions {
  readonly stream: WatchStream;
  readonly clock: Clock;
  /** The newest revision that is known to exist. */
  readonly newest: () => Revision;
  /** Writes a key within the watch's range; absent if etcd can be asked for progress. */
  readonly putMarker: (() => Promise<void>) | undefined;
  readonly after: Revision;
}

/** How far a watch is, and how it is moved to say so when nothing happens under its prefix. */
export class OpenWatch {
  readonly #options: OpenWatchOptions;
  #position: Revision;
  #cancelTimer: (() => void) | undefined;
  #wanted: Revision = 0;
  #closed = false;

  constructor(options: OpenWatchOptions) {
    this.#options = options;
    this.#position = options.after;
  }

  reached(revision: Revision): void {
    this.#position = Math.max(this.#position, revision);
  }

  requestProgress(): void {
    this.#want(graceMilliseconds);
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
    this.#options.stream.cancel();
  }

  #want(milliseconds: number): void {
    this.#wanted = this.#options.newest();
    this.#cancelTimer ??= this.#options.clock.timer(milliseconds, () => {
      this.#cancelTimer = undefined;
      void this.#nudge();
    });
  }

  async #nudge(): Promise<void> {
    if (this.#closed || this.#position >= this.#wanted) return;
    const { putMarker, stream } = this.#options;
    try {
      if (putMarker === undefined) stream.write({ progress: {} });
      else await putMarker();
    } catch {
      // The next try may go to another member. If there is none, the watch itself fails.
    }
    if (!this.#isClosed()) this.#want(retryMilliseconds);
  }

  #isClosed(): boolean {
    return this.#closed;
  }
}
