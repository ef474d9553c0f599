import type { Logger } from 'pino';
import type { Clock } from '../clock.js';
import type { Revision } from '../interface.js';
import { isCompacted, type EtcdConnection } from './connection.js';
import type { Keyspace } from './keyspace.js';

export interface CompactorOptions {
  readonly connection: EtcdConnection;
  readonly keyspace: Keyspace;
  readonly clock: Clock;
  readonly logger: Logger;
  /** History is kept at least this long, and at most about twice as long. */
  readonly milliseconds: number;
}

/**
 * Compacts etcd's history. All processes try at each interval; the one that moves a shared key on compacts to the
 * revision that the key was moved to an interval ago.
 */
export class Compactor {
  readonly #options: CompactorOptions;
  #cancelTimer: () => void = () => undefined;
  #seen: { readonly version: number; readonly revision: Revision } | undefined;
  #closed = false;

  constructor(options: CompactorOptions) {
    this.#options = options;
    this.#schedule();
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer();
  }

  #schedule(): void {
    const { clock, milliseconds } = this.#options;
    if (!this.#closed) this.#cancelTimer = clock.timer(milliseconds, () => void this.#step());
  }

  async #step(): Promise<void> {
    try {
      await this.#compact();
    } catch (error) {
      if (!this.#closed && !isCompacted(error)) {
        this.#options.logger.warn({ err: error }, 'etcd could not be compacted; it will be tried again');
      }
    }
    this.#schedule();
  }

  async #compact(): Promise<void> {
    const { connection, keyspace } = this.#options;
    const key = keyspace.own('compaction');
    const { version, revision } = this.#seen ?? { version: 0, revision: 0 };
    const { header, succeeded, responses } = await connection.call('Txn', {
      compare: [{ result: 0, target: 0, key, version }],
      success: [{ put: { key, value: Buffer.alloc(0) } }],
      failure: [{ range: { key } }],
    });
    if (!succeeded) {
      const kv = responses[0]?.range?.kvs[0];
      this.#seen = kv && { version: kv.version, revision: kv.modRevision };
      return;
    }
    this.#seen = { version: version + 1, revision: header.revision };
    if (revision > 0) await connection.call('Compact', { revision, physical: false });
  }
}
