import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../clock.js';
import { LineSplitter } from '../lines.js';
import { QmpError } from './errors.js';
import {
  parseMessage,
  type JsonObject,
  type QmpEvent,
  type QmpGreeting,
  type QmpMessage,
} from './messages.js';

/** query-qmp-schema, the largest known answer, is about 200 kB. */
const maxLineBytes = 8 << 20;

export interface ExecuteOptions {
  /** How long to wait for the answer; default 10 s. */
  readonly timeoutMs?: number;
  /** Overtake queued commands, where QEMU offers the `oob` capability; else it is sent in turn. */
  readonly outOfBand?: boolean;
  readonly signal?: AbortSignal;
}

interface Waiting {
  readonly command: string;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/**
 * One QMP session. Commands may be in flight together; each is answered by its id. Events go to the listener in the order
 * QEMU sent them, and none that comes after the greeting is lost.
 */
export class QmpClient {
  private readonly waiting = new Map<number, Waiting>();
  private readonly lines = new LineSplitter(maxLineBytes);
  private nextId = 1;
  private outOfBand = false;
  private closedBy: Error | undefined;
  private readonly greeted: Promise<QmpGreeting>;
  private onGreeting: (greeting: QmpGreeting) => void = () => {};
  private onGreetingFailed: (error: Error) => void = () => {};

  private constructor(
    private readonly socket: Socket,
    private readonly onEvent: (event: QmpEvent) => void,
    private readonly clock: Clock,
  ) {
    this.greeted = new Promise((resolve, reject) => {
      this.onGreeting = resolve;
      this.onGreetingFailed = reject;
    });
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('error', (error) => this.close(error));
    socket.on('close', () => this.close(new Error('QEMU closed it')));
  }

  /**
   * Waits for the greeting on a connected socket and leaves capabilities negotiation.
   * @throws QmpError when QEMU says nothing in time or closes.
   */
  static async open(
    socket: Socket,
    onEvent: (event: QmpEvent) => void,
    options: ExecuteOptions & { readonly clock?: Clock } = {},
  ): Promise<{ client: QmpClient; greeting: QmpGreeting }> {
    const client = new QmpClient(socket, onEvent, options.clock ?? systemClock);
    const greeting = await client.bounded('greeting', client.greeted, options);
    const outOfBand = greeting.capabilities.includes('oob');
    await client.execute('qmp_capabilities', outOfBand ? { enable: ['oob'] } : undefined, options);
    client.outOfBand = outOfBand;
    return { client, greeting };
  }

  /** @throws QmpError (`refused`, `timeout`, `closed`), or the signal's reason. */
  execute(command: string, parameters?: JsonObject, options: ExecuteOptions = {}): Promise<unknown> {
    if (this.closedBy) return Promise.reject(new QmpError('closed', command, this.closedBy.message));
    const id = this.nextId++;
    const verb = options.outOfBand && this.outOfBand ? 'exec-oob' : 'execute';
    const answer = new Promise<unknown>((resolve, reject) => {
      this.waiting.set(id, { command, resolve, reject });
    });
    this.socket.write(`${JSON.stringify({ [verb]: command, arguments: parameters, id })}\n`);
    return this.bounded(command, answer, options).finally(() => this.waiting.delete(id));
  }

  /** Ends the session; commands in flight fail as `closed`. */
  end(): void {
    this.socket.destroy();
    this.close(new Error('closed by the launcher'));
  }

  private bounded<T>(command: string, answer: Promise<T>, options: ExecuteOptions): Promise<T> {
    const { timeoutMs = 10_000, signal } = options;
    return new Promise<T>((resolve, reject) => {
      const settle = () => {
        cancel();
        signal?.removeEventListener('abort', onAbort);
      };
      const fail = (error: unknown) => {
        settle();
        reject(error instanceof Error ? error : new Error(String(error)));
      };
      const onAbort = () => fail(signal?.reason);
      const cancel = this.clock.after(timeoutMs, () =>
        fail(new QmpError('timeout', command, `${timeoutMs / 1000} s`)),
      );
      answer.then((value) => {
        settle();
        resolve(value);
      }, fail);
      if (signal?.aborted) {
        onAbort();
        return;
      }
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  private receive(chunk: Buffer): void {
    try {
      for (const line of this.lines.push(chunk)) this.dispatch(parseMessage(line));
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      this.close(new QmpError('protocol', 'the last command', detail));
      this.socket.destroy();
    }
  }

  private dispatch(message: QmpMessage): void {
    switch (message.kind) {
      case 'greeting': {
        this.onGreeting(message.greeting);
        return;
      }
      case 'event': {
        this.onEvent(message.event);
        return;
      }
      case 'result':
        return this.answered(message.id)?.resolve(message.value);
      case 'error': {
        const { id, description, errorClass } = message;
        const waiting = this.answered(id);
        return waiting?.reject(new QmpError('refused', waiting.command, description, errorClass));
      }
    }
  }

  private answered(id: unknown): Waiting | undefined {
    return typeof id === 'number' ? this.waiting.get(id) : undefined;
  }

  private close(cause: Error): void {
    if (this.closedBy) return;
    this.closedBy = cause;
    this.onGreetingFailed(new QmpError('closed', 'greeting', cause.message));
    // Nobody may be waiting for the greeting any more.
    this.greeted.catch(() => {});
    for (const waiting of this.waiting.values()) {
      waiting.reject(new QmpError('closed', waiting.command, cause.message));
    }
    this.waiting.clear();
  }
}
