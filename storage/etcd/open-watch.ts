import type { Clock } from '../clock.js';
import type { Revision } from '../interface.js';
import type { MemberWatch } from './connection.js';

/** Events mostly come by themselves in this time. */
const graceMilliseconds = 20;
/** etcd leaves a progress request unanswered while the watch has events ahead of it. */
const retryMilliseconds = 200;

export interface OpenWatchOptions {
  readonly member: MemberWatch;
  readonly clock: Clock;
  /** The newest revision that is known to exist. */
  readonly newest: () => Revision;
  /** Writes a key within the watch's range; absent if etcd can be asked for progress. */
  readonly putMarker: (() => Promise<void>) | undefined;
  readonly after: Revision;
  readonly patience: Patience;
}

/**
 * How far a watch is, and how it is moved to say so when nothing happens under its prefix. A watch that owes an answer and
 * keeps silent is given up: its member may be cut off without anyone having closed the connection.
 */
export class OpenWatch {
  readonly #options: OpenWatchOptions;
  #position: Revision;
  #cancelTimer: (() => void) | undefined;
  #wanted: Revision = 0;
  #created = false;
  #isAwaited = false;
  /** Tries that were not answered. */
  #silence = 0;
  #closed = false;

  constructor(options: OpenWatchOptions) {
    this.#options = options;
    this.#position = options.after;
    this.#schedule(retryMilliseconds);
  }

  /** The watch is in force. */
  created(): void {
    this.#created = true;
    this.#heard();
    this.requestProgress();
  }

  reached(revision: Revision): void {
    this.#heard();
    this.#position = Math.max(this.#position, revision);
  }

  /** Whether somebody waits for the next answer. If not, silence is the reader's. */
  awaited(isAwaited: boolean): void {
    this.#isAwaited = isAwaited;
  }

  requestProgress(): void {
    this.#wanted = this.#options.newest();
    this.#schedule(graceMilliseconds);
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
    this.#options.member.stream.cancel();
  }

  #heard(): void {
    this.#silence = 0;
    this.#options.patience.rewarded();
  }

  #schedule(milliseconds: number): void {
    this.#cancelTimer ??= this.#options.clock.timer(milliseconds, () => {
      this.#cancelTimer = undefined;
      void this.#nudge();
    });
  }

  async #nudge(): Promise<void> {
    if (this.#isClosed() || (this.#created && this.#position >= this.#wanted)) return;
    const { member, patience, newest } = this.#options;
    if (this.#silence >= patience.tries && this.#isAwaited) {
      patience.exhausted();
      member.giveUp();
      return;
    }
    // A watch is not to blame for a store that can not be written.
    if (!this.#created || (await this.#ask())) this.#silence++;
    if (this.#isClosed()) return;
    this.#wanted = newest();
    this.#schedule(retryMilliseconds);
  }

  async #ask(): Promise<boolean> {
    const { putMarker, member } = this.#options;
    try {
      if (putMarker === undefined) member.stream.write({ progress: {} });
      else await putMarker();
      return true;
    } catch {
      // The next try may go to another member. If there is none, the watch itself fails.
      return false;
    }
  }

  #isClosed(): boolean {
    return this.#closed;
  }
}

const fewestTries = 10;
const mostTries = 150;

/** How many tries a silent watch is given: more each time, as it may be etcd that is slow and not one member that is cut off. */
export class Patience {
  #tries: number;

  /** @param members if there is one only, no other can do better. */
  constructor(private readonly members: number) {
    this.#tries = this.#fewest;
  }

  get tries(): number {
    return this.#tries;
  }

  rewarded(): void {
    this.#tries = this.#fewest;
  }

  exhausted(): void {
    this.#tries = Math.min(this.#tries * 2, mostTries);
  }

  get #fewest(): number {
    return this.members > 1 ? fewestTries : mostTries;
  }
}
