/** A backend that may not be there yet: it is tried again until it is, and every question before is refused. */
import type { Logger } from 'pino';
import { Backoff } from '../../controllers/runtime/backoff.js';
import { sleep, systemClock } from '../../controllers/runtime/clock.js';
import { UnavailableError } from '../../storage/errors.js';
import type {
  Backend,
  BackendEvents,
  BackendWatchOptions,
  KeyValue,
  ListOptions,
  ListResult,
  Revision,
  Write,
} from '../../storage/interface.js';

export class LateBackend implements Backend {
  /** Rejects if it can never be used, or is closed before. */
  readonly opened: Promise<void>;
  readonly #closing = new AbortController();
  #backend: Backend | undefined;
  #failure = new UnavailableError('the store has not been opened yet');

  /** @param open rejects with `UnavailableError` if that may change */
  constructor(
    private readonly open: () => Promise<Backend>,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {
    this.opened = this.#openLater();
    // Who does not wait for it is refused until it is there.
    this.opened.catch(() => undefined);
  }

  async #openLater(): Promise<void> {
    const { signal } = this.#closing;
    const backoff = new Backoff({ minimum: 250, maximum: 5000, random: Math.random });
    while (this.#backend === undefined) {
      try {
        this.#backend = await this.open();
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        this.#failure = error;
        this.logger.warn({ err: error }, 'the store can not be used yet; trying again');
        await sleep(systemClock, backoff.next(), signal);
      }
    }
    signal.throwIfAborted();
  }

  #opened(): Backend {
    if (this.#backend === undefined) throw this.#failure;
    return this.#backend;
  }

  async currentRevision(signal?: AbortSignal): Promise<Revision> {
    return this.#opened().currentRevision(signal);
  }

  async get(
    key: string,
    options?: { readonly revision?: Revision },
  ): Promise<{ revision: Revision; kv: KeyValue | undefined }> {
    return this.#opened().get(key, options);
  }

  async list(prefix: string, options?: ListOptions): Promise<ListResult> {
    return this.#opened().list(prefix, options);
  }

  async write(write: Write): Promise<{ revision: Revision }> {
    return this.#opened().write(write);
  }

  watch(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
    options?: BackendWatchOptions,
  ): AsyncIterable<BackendEvents> {
    return this.#opened().watch(prefix, after, signal, options);
  }

  requestProgress(): void {
    this.#backend?.requestProgress?.();
  }

  async compact(revision: Revision): Promise<void> {
    return this.#opened().compact(revision);
  }

  async check(signal: AbortSignal): Promise<void> {
    return this.#opened().check(signal);
  }

  async close(): Promise<void> {
    this.#closing.abort(new UnavailableError('the store is closed'));
    await this.opened.catch(() => undefined);
    await this.#backend?.close();
  }
}
