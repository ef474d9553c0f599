import { writeSync } from 'node:fs';

export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** One JSON object a line, with pino's names and levels so that the same tools read all logs of a node. */
export function jsonLogger(descriptor: number, now: () => number, bindings: LogFields = {}): Logger {
  const line = (level: number) => (message: string, fields?: LogFields) => {
    const record = { level, time: now(), ...bindings, ...fields, msg: message };
    try {
      writeSync(descriptor, `${JSON.stringify(record)}\n`);
    } catch {
      // A log that cannot be written (full disk) must not take the virtual machine down with it.
    }
  };
  return { info: line(30), warn: line(40), error: line(50) };
}

export const silentLogger: Logger = { info: () => {}, warn: () => {}, error: () => {} };
