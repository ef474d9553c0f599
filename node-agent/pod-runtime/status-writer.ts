/** Writes a pod's newest status, one write at a time; states in between that nobody saw are skipped. */
import type { Pod, PodStatus } from '../../openapi/generated/types/core_v1.js';
import { Backoff } from '../../controllers/runtime/backoff.js';
import type { Client } from '../../controllers/runtime/client.js';
import { sleep, type Clock } from '../../controllers/runtime/clock.js';
import { isConflict, isNotFound } from '../../controllers/runtime/errors.js';
import { pods } from '../../controllers/runtime/kinds.js';
import type { Logger } from '../../controllers/runtime/logger.js';

export interface StatusWriterOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

export class StatusWriter {
  private wanted: (() => PodStatus) | undefined;
  private writing: Promise<void> | undefined;

  constructor(
    private readonly pod: Pod,
    private readonly options: StatusWriterOptions,
  ) {}

  /** `status` is called when the write is due. */
  set(status: () => PodStatus): void {
    this.wanted = status;
    this.writing ??= this.write().finally(() => (this.writing = undefined));
  }

  private isStopped(): boolean {
    return this.options.signal.aborted;
  }

  private async write(): Promise<void> {
    const { client, clock, logger, random, signal } = this.options;
    const backoff = new Backoff({ minimum: 100, maximum: 10_000, random });
    const { namespace, name, uid } = this.pod.metadata;
    while (this.wanted !== undefined && !this.isStopped()) {
      const status = this.wanted;
      try {
        const body = { metadata: { uid }, status: status() };
        await client.patch(pods, { namespace, name }, { type: 'merge', body }, 'status', signal);
        backoff.reset();
      } catch (error) {
        if (this.isStopped()) return;
        // The pod is gone, or another one has its name: nobody is left to tell.
        if (!isNotFound(error) && !isConflict(error)) {
          logger.warn({ err: error, pod: name, namespace }, 'cannot write the status of a pod; trying again');
          await sleep(clock, backoff.next(), signal).catch(() => undefined);
          continue;
        }
      }
      // A newer one may have come while this was written.
      if (this.wanted === status) this.wanted = undefined;
    }
  }
}
