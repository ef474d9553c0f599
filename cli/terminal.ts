/** The user's end of a console: raw keys in, bytes out. */
import type { Readable, Writable } from 'node:stream';

export interface Terminal {
  readonly input: Readable;
  readonly output: Writable;
  /** Messages of ours, apart from what the guest prints. */
  readonly messages: Writable;
  /** Whether a person types: keys then come one by one, unechoed, Ctrl+C included. */
  readonly interactive: boolean;
  setRaw(raw: boolean): void;
}

export function processTerminal(): Terminal {
  const { stdin, stdout, stderr } = process;
  return {
    input: stdin,
    output: stdout,
    messages: stderr,
    interactive: stdin.isTTY,
    setRaw: (raw) => {
      if (stdin.isTTY) stdin.setRawMode(raw);
    },
  };
}

/** Tells the user something. A raw terminal needs the carriage return. */
export function say(terminal: Terminal, text: string): void {
  terminal.messages.write(terminal.interactive ? `${text}\r\n` : `${text}\n`);
}
