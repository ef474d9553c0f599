/** The audit log's file: one JSON line an event, appended in order, never in the way of a request. */
import { open, type FileHandle } from 'node:fs/promises';
import type { Logger } from 'pino';

/** Events that wait beyond this are lost (and counted): a disk that is stuck must not eat the memory. */
const maxPendingBytes = 32 * 1024 * 1024;

export interface AuditLog {
  /** @param lost called once if the line could not be written */
  write(line: string, lost: () => void): void;
  /** Resolves when everything is written. */
  close(): Promise<void>;
}

interface Pending {
  readonly line: string;
  readonly lost: () => void;
}

class FileAuditLog implements AuditLog {
  #pending: Pending[] = [];
  #pendingBytes = 0;
  #flushing: Promise<void> | undefined;

  constructor(
    private readonly file: FileHandle,
    private readonly logger: Logger,
  ) {}

  write(line: string, lost: () => void): void {
    if (this.#pendingBytes + line.length > maxPendingBytes) {
      lost();
      return;
    }
    this.#pending.push({ line, lost });
    this.#pendingBytes += line.length;
    this.#flushing ??= this.#flush().finally(() => (this.#flushing = undefined));
  }

  async #flush(): Promise<void> {
    while (this.#pending.length > 0) {
      const batch = this.#pending;
      this.#pending = [];
      this.#pendingBytes = 0;
      try {
        await this.file.appendFile(batch.map(({ line }) => `${line}\n`).join(''));
      } catch (error) {
        this.logger.error({ err: error, events: batch.length }, 'audit events lost');
        for (const { lost } of batch) lost();
      }
    }
  }

  async close(): Promise<void> {
    await this.#flushing;
    await this.file.close();
  }
}

export async function openAuditLog(path: string, logger: Logger): Promise<AuditLog> {
  return new FileAuditLog(await open(path, 'a', 0o600), logger);
}
