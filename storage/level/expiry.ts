import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import { ConflictError } from '../errors.js';
import type { Revision, Write } from '../interface.js';
import type { Connection } from './connection.js';
import { endOf, expiryKey, parseExpiryKey } from './layout.js';

/** So many keys end in one go. */
const slice = 500;
/** Keys end this late at most, so that many end in one go. */
const gatherMilliseconds = 1000;
const retryMilliseconds = 10_000;
const longestSleep = 24 * 3600_000;

export interface ExpiryOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly write: (write: Write) => Promise<Revision>;
}

/** Deletes keys whose time is over, as a writer like any other. */
export class Expiry {
  readonly #options: ExpiryOptions;
  #due = Infinity;
  #cancelTimer: () => void = () => undefined;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(options: ExpiryOptions) {
    this.#options = options;
    this.expect(options.clock.now());
  }

  /** A key ends at that time. */
  expect(expires: number): void {
    if (expires >= this.#due || this.#closed) return;
    this.#due = expires;
    if (this.#running === undefined) this.#arm();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelTimer();
    await this.#running;
  }

  #arm(): void {
    this.#cancelTimer();
    if (this.#due === Infinity || this.#closed) return;
    const delay = Math.max(0, this.#due + gatherMilliseconds - this.#options.clock.now());
    this.#cancelTimer = this.#options.clock.timer(Math.min(delay, longestSleep), () => {
      this.#running = this.#run();
    });
  }

  async #run(): Promise<void> {
    try {
      do await this.#expireSlice();
      while (this.#due <= this.#options.clock.now() && !this.#stopped());
    } catch (error) {
      this.#options.logger.warn(
        { err: error },
        'keys that ended could not be deleted; it will be tried again',
      );
      this.#due = this.#options.clock.now() + retryMilliseconds;
    }
    this.#running = undefined;
    this.#arm();
  }

  #stopped(): boolean {
    return this.#closed;
  }

  /** Deletes the keys that are due, at most `slice`, and notes when the next one is. */
  async #expireSlice(): Promise<void> {
    const { connection, clock, write } = this.#options;
    const now = clock.now();
    this.#due = Infinity;
    const due = await connection.read(async (snapshot) => {
      for await (const pairs of snapshot.range({ gte: expiryKey(0, 0), lt: endOf.expiry }, slice))
        return pairs;
      return [];
    });
    const writes: Promise<unknown>[] = [];
    for (const [text, value] of due) {
      const { expires, revision } = parseExpiryKey(text);
      if (expires > now) {
        this.#due = Math.min(this.#due, expires);
        break;
      }
      if (writes.length === slice - 1) this.#due = now;
      writes.push(write({ key: value.toString(), expect: revision, value: undefined }).catch(ignoreConflict));
    }
    await Promise.all(writes);
  }
}

/** The key was written again meanwhile, with a new lifetime or none. */
function ignoreConflict(error: unknown): void {
  if (!(error instanceof ConflictError)) throw error;
}
