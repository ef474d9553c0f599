import { asError, systemClock, type Clock } from './clock.js';
import type { GuestAgent } from './guest-agent.js';
import type { Logger } from './log.js';

/** File systems are flushed first, and databases may have hooks there. */
const commandTimeoutMs = 60_000;

/** The guest's file systems, held still for a snapshot, but never for longer than was asked for. */
export class FileSystemFreeze {
  private cancelThaw: () => void = () => {};

  constructor(
    private readonly agent: GuestAgent,
    private readonly changed: (frozen: boolean) => void,
    private readonly logger: Logger,
    private readonly clock: Clock = systemClock,
  ) {}

  /**
   * @param timeoutMs until they are thawed by themselves; 0 is never
   * @throws GuestAgentError
   */
  async freeze(timeoutMs: number): Promise<void> {
    if ((await this.agent.execute('guest-fsfreeze-status')) !== 'frozen') {
      await this.agent.execute('guest-fsfreeze-freeze', undefined, commandTimeoutMs);
    }
    this.changed(true);
    this.cancelThaw();
    if (timeoutMs > 0) this.cancelThaw = this.clock.after(timeoutMs, () => void this.thawLate());
  }

  /** @throws GuestAgentError */
  async unfreeze(): Promise<void> {
    this.cancelThaw();
    await this.agent.execute('guest-fsfreeze-thaw', undefined, commandTimeoutMs);
    this.changed(false);
  }

  /** The guest, and what was frozen in it, is gone or has started anew. */
  forget(): void {
    this.cancelThaw();
    this.changed(false);
  }

  private async thawLate(): Promise<void> {
    this.logger.warn('nobody has thawed the file systems in time: they are thawed now', {});
    try {
      await this.unfreeze();
    } catch (error) {
      this.logger.error('the file systems could not be thawed', { error: asError(error).message });
    }
  }
}
