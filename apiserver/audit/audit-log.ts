/** The audit log: one JSON line an event, appended in order, never in the way of a request. */
import { open } from 'node:fs/promises';
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

/** Where the lines go. */
interface Sink {
  appendFile(text: string): Promise<void>;
  close(): Promise<void>;
}

/** Shared with everything else that the process prints, so it stays open. */
const standardOutput: Sink = {
  appendFile: (text) =>
    new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => {
        if (error) reject(error);
        else resolve();
      });
    }),
  close: () => Promise.resolve(),
};

class QueuedAuditLog implements AuditLog {
  #pending: Pending[] = [];
  #pendingBytes = 0;
  #flushing: Promise<void> | undefined;

  constructor(
    private readonly sink: Sink,
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
        await this.sink.appendFile(batch.map(({ line }) => `${line}\n`).join(''));
      } catch (error) {
        this.logger.error({ err: error, events: batch.length }, 'audit events lost');
        for (const { lost } of batch) lost();
      }
    }
  }

  async close(): Promise<void> {
    await this.#flushing;
    await this.sink.close();
  }
}

/** @param path a file to append to, made if it does not exist; `-` is standard output */
export async function openAuditLog(path: string, logger: Logger): Promise<AuditLog> {
  return new QueuedAuditLog(path === '-' ? standardOutput : await open(path, 'a', 0o600), logger);
}
