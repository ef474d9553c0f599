import type { Logger } from '../logger.js';

/** Keeps what is logged as warning or error, so that a test can look at it. */
export class SilentLogger implements Logger {
  readonly problems: { level: 'warn' | 'error'; fields: object; message: string }[] = [];

  debug(): void {
    return;
  }

  info(): void {
    return;
  }

  warn(fields: object, message: string): void {
    this.problems.push({ level: 'warn', fields, message });
  }

  error(fields: object, message: string): void {
    this.problems.push({ level: 'error', fields, message });
  }

  child(): Logger {
    return this;
  }
}
