/** Types at a guest's serial console and waits for what it prints. */
import type { Duplex } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { RawData, WebSocket } from 'ws';

export class SerialSessionError extends Error {
  override readonly name = 'SerialSessionError';
}

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

export interface Expected {
  readonly before: string;
  readonly matched: string;
}

/** What the guest's shells end a prompt with. */
const shellPrompt = /[\w.-]+@[\w.-]+:[^\n]*[$#] $/;

/** The bytes of a serial port, as text. */
export interface SerialPort {
  /** Called once; from then on nothing may get lost. */
  onData(listener: (text: string) => void): void;
  onClose(listener: () => void): void;
  write(text: string): void;
  close(): void;
}

function textOf(data: RawData): string {
  const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data);
  return bytes.toString('utf8');
}

/** A console of the API; the socket is paused until somebody listens. */
export function webSocketPort(socket: WebSocket): SerialPort {
  return {
    onData: (listener) => {
      socket.on('message', (data) => {
        listener(textOf(data));
      });
      socket.resume();
    },
    onClose: (listener) => {
      socket.once('close', listener);
    },
    write: (text) => {
      socket.send(Buffer.from(text));
    },
    close: () => {
      socket.close();
    },
  };
}

/** The socket of a QEMU's character device. */
export function streamPort(stream: Duplex): SerialPort {
  return {
    onData: (listener) => {
      stream.setEncoding('utf8');
      stream.on('data', listener);
    },
    onClose: (listener) => {
      stream.once('close', listener);
    },
    write: (text) => {
      stream.write(text);
    },
    close: () => {
      stream.destroy();
    },
  };
}

export class SerialSession {
  /** What came since the last match. */
  private unread = '';
  private line = '';
  private closed = false;
  private wake: (() => void) | undefined;

  /** @param onLine each whole line that the guest prints, without control characters. */
  constructor(
    private readonly port: SerialPort,
    private readonly onLine: (line: string) => void = () => undefined,
  ) {
    port.onData((text) => {
      this.receive(text);
    });
    port.onClose(() => {
      this.closed = true;
      this.wake?.();
    });
  }

  private receive(text: string): void {
    this.unread += text;
    // A bare carriage return begins the line anew, as on a screen.
    const lines = (this.line + stripVTControlCharacters(text)).replaceAll('\r\n', '\n').split('\n');
    this.line = lines.pop() ?? '';
    for (const line of lines) this.onLine(line.slice(line.lastIndexOf('\r') + 1).trimEnd());
    this.wake?.();
  }

  send(text: string): void {
    this.port.write(text);
  }

  /** The match and what came before it, once it came. Rejects with the signal's reason, or if the console closes first. */
  async expect(pattern: RegExp, signal: AbortSignal): Promise<Expected> {
    for (;;) {
      const text = stripVTControlCharacters(this.unread).replaceAll('\r', '');
      const match = pattern.exec(text);
      if (match !== null) {
        this.unread = text.slice(match.index + match[0].length);
        return { before: text.slice(0, match.index), matched: match[0] };
      }
      if (this.closed)
        throw new SerialSessionError(`the console closed before it printed ${String(pattern)}`);
      await this.more(signal);
    }
  }

  private more(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const settle = (action: () => void): void => {
        this.wake = undefined;
        signal.removeEventListener('abort', abort);
        action();
      };
      const abort = (): void => {
        settle(() => {
          reject(signal.reason as Error);
        });
      };
      this.wake = () => {
        settle(resolve);
      };
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  async untilLogin(signal: AbortSignal): Promise<void> {
    await this.expect(/login: $/, signal);
  }

  /** From the login prompt, which must have come or be about to, to the shell's. */
  async login(credentials: Credentials, signal: AbortSignal): Promise<void> {
    await this.untilLogin(signal);
    await this.enter(credentials, signal);
  }

  /** Answers a login prompt that was read already. */
  async enter({ user, password }: Credentials, signal: AbortSignal): Promise<void> {
    this.send(`${user}\n`);
    await this.expect(/Password: $/, signal);
    this.send(`${password}\n`);
    const { matched } = await this.expect(new RegExp(`Login incorrect|${shellPrompt.source}`), signal);
    if (matched === 'Login incorrect') {
      throw new SerialSessionError(`the guest refused the login of ${user}`);
    }
  }

  /** What a command prints, from one shell prompt to the next. */
  async run(command: string, signal: AbortSignal): Promise<string> {
    this.send(`${command}\n`);
    // The terminal echoes what is typed.
    await this.expect(/\n/, signal);
    const { before } = await this.expect(shellPrompt, signal);
    return before.trimEnd();
  }

  close(): void {
    this.port.close();
  }
}
