/** Types at a guest's serial console and waits for what it prints. */
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

function textOf(data: RawData): string {
  const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data);
  return bytes.toString('utf8');
}

export class SerialSession {
  /** What came since the last match. */
  private unread = '';
  private line = '';
  private closed = false;
  private wake: (() => void) | undefined;

  /** @param onLine each whole line that the guest prints, without control characters. */
  constructor(
    private readonly socket: WebSocket,
    private readonly onLine: (line: string) => void = () => undefined,
  ) {
    socket.on('message', (data) => {
      this.receive(textOf(data));
    });
    socket.once('close', () => {
      this.closed = true;
      this.wake?.();
    });
    socket.resume();
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
    this.socket.send(Buffer.from(text));
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

  /** From the login prompt, which must have come or be about to, to the shell's. */
  async login({ user, password }: Credentials, signal: AbortSignal): Promise<void> {
    await this.expect(/login: $/, signal);
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
    this.socket.close();
  }
}
