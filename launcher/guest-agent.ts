import type { Socket } from 'node:net';
import { systemClock, type Clock } from './clock.js';
import { LineSplitter } from './lines.js';
import { isObject, text, type JsonObject } from './qmp/messages.js';

/** guest-exec and file reads answer with base64 of up to 16 MiB. */
const maxLineBytes = 32 << 20;
const delimiter = 0xff;
const syncTimeoutMs = 5000;
/** A refusal comes at once. */
const refusalTimeoutMs = 2000;

const texts = {
  disconnected: (command: string) =>
    `${command}: the guest agent is not connected; is qemu-guest-agent installed and running in the guest?`,
  timeout: (command: string, detail: string) => `${command}: the guest agent did not answer within ${detail}`,
  refused: (command: string, detail: string) => `${command}: the guest agent refused: ${detail}`,
} as const;

export class GuestAgentError extends Error {
  override readonly name = 'GuestAgentError';
  constructor(
    readonly kind: keyof typeof texts,
    readonly command: string,
    detail = '',
  ) {
    super(texts[kind](command, detail));
  }
}

/**
 * The agent in the guest. It takes one command at a time and its answers carry no id, so commands queue, and after a missed
 * answer both sides are brought in step again before the next.
 */
export class GuestAgent {
  private readonly lines = new LineSplitter(maxLineBytes);
  private queue: Promise<unknown> = Promise.resolve();
  private onLine: ((line: string) => void) | undefined;
  private onDisconnect: (() => void) | undefined;
  private connected = false;
  private inStep = false;
  private nextSync = 1;

  constructor(
    private readonly socket: Socket,
    private readonly clock: Clock = systemClock,
  ) {
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.setConnected(false));
  }

  /** The guest has opened or closed the port. */
  setConnected(connected: boolean): void {
    this.connected = connected;
    this.inStep = false;
    this.lines.clear();
    if (!connected) this.onDisconnect?.();
  }

  get isConnected(): boolean {
    return this.connected;
  }

  /**
   * A command that is answered only with a refusal, such as `guest-shutdown`.
   * @throws GuestAgentError
   */
  async tell(command: string, parameters?: JsonObject): Promise<void> {
    await this.execute('guest-ping');
    try {
      await this.execute(command, parameters, refusalTimeoutMs);
    } catch (error) {
      if (error instanceof GuestAgentError && error.kind !== 'refused') return;
      throw error;
    }
  }

  /** @throws GuestAgentError */
  execute(command: string, parameters?: JsonObject, timeoutMs = 10_000): Promise<unknown> {
    const result = this.queue.then(async () => {
      if (!this.inStep) await this.synchronise(command);
      return await this.exchange(command, parameters, timeoutMs);
    });
    this.queue = result.catch(() => {});
    return result;
  }

  /** Makes the agent forget half a command, and skips answers to earlier ones. */
  private async synchronise(command: string): Promise<void> {
    const id = this.nextSync++;
    const request = JSON.stringify({ execute: 'guest-sync-delimited', arguments: { id } });
    const packet = Buffer.concat([Buffer.from([delimiter]), Buffer.from(`${request}\n`)]);
    await this.converse(command, packet, syncTimeoutMs, (answer) => answer['return'] === id);
    this.inStep = true;
  }

  private async exchange(
    command: string,
    parameters: JsonObject | undefined,
    timeoutMs: number,
  ): Promise<unknown> {
    const request = Buffer.from(`${JSON.stringify({ execute: command, arguments: parameters })}\n`);
    const answer = await this.converse(command, request, timeoutMs, () => true);
    if (isObject(answer['error']))
      throw new GuestAgentError('refused', command, text(answer['error']['desc']));
    return answer['return'];
  }

  private converse(
    command: string,
    request: Buffer,
    timeoutMs: number,
    accepts: (answer: JsonObject) => boolean,
  ): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (!this.connected) {
        reject(new GuestAgentError('disconnected', command));
        return;
      }
      const settle = () => {
        cancel();
        this.onLine = undefined;
        this.onDisconnect = undefined;
      };
      const cancel = this.clock.after(timeoutMs, () => {
        settle();
        this.inStep = false;
        reject(new GuestAgentError('timeout', command, `${timeoutMs / 1000} s`));
      });
      this.onDisconnect = () => {
        settle();
        reject(new GuestAgentError('disconnected', command));
      };
      this.onLine = (line) => {
        const answer = parse(line);
        if (!answer || !accepts(answer)) return;
        settle();
        resolve(answer);
      };
      this.socket.write(request);
    });
  }

  private receive(chunk: Buffer): void {
    try {
      for (const line of this.lines.push(chunk)) this.onLine?.(line);
    } catch {
      // A line without end: what comes after the next delimiter counts again.
      this.lines.clear();
      this.inStep = false;
    }
  }
}

/** The object of a line, without the delimiter that a synchronising answer has in front; 0xff is no UTF-8. */
function parse(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line.slice(line.lastIndexOf('\ufffd') + 1));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
