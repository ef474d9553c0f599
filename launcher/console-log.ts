import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, renameSync, write } from 'node:fs';

/** Bytes of one log file; the one before it is kept as `<path>.1`. */
const maxFileBytes = 4 << 20;
/** Bytes that may wait for the disk; more is lost rather than held in memory. */
const maxWaitingBytes = 1 << 20;

/** What the guest says on its console, appended to a file without ever holding the guest. */
export class ConsoleLog {
  private descriptor: number;
  private written = 0;
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private lostBytes = 0;
  private writing = false;
  private closed = false;

  constructor(private readonly path: string) {
    this.descriptor = openSync(path, 'a', 0o600);
  }

  append(chunk: Buffer): void {
    if (this.closed) return;
    if (this.waitingBytes + chunk.length > maxWaitingBytes) {
      this.lostBytes += chunk.length;
      return;
    }
    if (this.lostBytes > 0) this.keep(Buffer.from(`\n[${this.lostBytes} bytes are missing here]\n`));
    this.lostBytes = 0;
    this.keep(chunk);
    this.flush();
  }

  /** What is in the files and what waits for them, oldest byte first. */
  content(): Buffer {
    const files = [`${this.path}.1`, this.path].filter((path) => existsSync(path));
    return Buffer.concat([...files.map((path) => readFileSync(path)), ...this.waiting]);
  }

  close(): void {
    this.closed = true;
    if (!this.writing) closeSync(this.descriptor);
  }

  private keep(chunk: Buffer): void {
    this.waiting.push(chunk);
    this.waitingBytes += chunk.length;
  }

  private flush(): void {
    if (this.writing || this.waiting.length === 0) return;
    if (this.written > maxFileBytes) this.rotate();
    const batch = Buffer.concat(this.waiting);
    this.waiting = [];
    this.writing = true;
    write(this.descriptor, batch, (error, bytes) => {
      this.writing = false;
      this.waitingBytes -= batch.length;
      this.written += bytes;
      if (error) this.lostBytes += batch.length;
      else if (bytes < batch.length) this.lostBytes += batch.length - bytes;
      if (this.closed && this.waiting.length === 0) closeSync(this.descriptor);
      else this.flush();
    });
  }

  private rotate(): void {
    this.written = 0;
    const full = this.descriptor;
    try {
      renameSync(this.path, `${this.path}.1`);
      this.descriptor = openSync(this.path, 'a', 0o600);
      closeSync(full);
    } catch {
      // A disk without room for another file: the guest goes on, and so does the log, in the room that it has.
      ftruncateSync(full);
    }
  }
}
