/** Client of a launcher's control socket: JSON-RPC 2.0, one message a line (openapi/launcher/protocol.ts). */
import type { Socket } from 'node:net';
import type { DomainStatus, LauncherMethods, LauncherNotifications } from '../openapi/launcher/protocol.js';
import type { Clock } from '../controllers/runtime/clock.js';
import { connectUnix, LauncherConnectionError } from './unix-socket.js';

/** The launcher answered with an error; `code` is one of `launcherErrorCodes` or JSON-RPC's own. */
export class LauncherError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
    this.name = 'LauncherError';
  }
}

type Method = keyof LauncherMethods;
/** Methods whose connection becomes the stream. */
type StreamMethod = 'console' | 'portForward';
type Params<M extends Method> = LauncherMethods[M]['params'];
type Result<M extends Method> = LauncherMethods[M]['result'];

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Neither statuses nor VMIs come near this; a peer that sends more is broken. */
const maximumLineLength = 32 * 1024 * 1024;
/** Cuts a byte stream into lines. */
class LineReader {
  private parts: Buffer[] = [];
  private length = 0;

  /** The complete lines; what follows the last line feed is kept. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      this.parts.push(chunk.subarray(start, end));
      lines.push(Buffer.concat(this.parts).toString('utf8'));
      this.parts = [];
      this.length = 0;
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    this.length += rest.length;
    if (this.length > maximumLineLength) throw new Error(`a line longer than ${maximumLineLength} bytes`);
    if (rest.length > 0) this.parts.push(rest);
    return lines;
  }
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
}

function parseMessage(line: string): Message {
  const value: unknown = JSON.parse(line);
  if (typeof value !== 'object' || value === null) throw new Error('a message that is no object');
  return value;
}

function toError({ error }: Message): LauncherError | undefined {
  if (error === undefined) return undefined;
  const code = typeof error.code === 'number' ? error.code : -32603;
  return new LauncherError(code, typeof error.message === 'string' ? error.message : 'no message');
}

export interface LauncherClientOptions {
  readonly clock: Clock;
  /** For the answer of any call. */
  readonly timeoutMilliseconds?: number;
}

export class LauncherClient {
  /** Resolves when the connection has ended, for whatever reason. */
  readonly closed: Promise<void>;
  private readonly pending = new Map<number, Pending>();
  private readonly lines = new LineReader();
  private onStatus: ((status: DomainStatus) => void) | undefined;
  private nextId = 1;
  private ended = false;

  private constructor(
    private readonly socket: Socket,
    private readonly options: LauncherClientOptions,
  ) {
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.end(new LauncherConnectionError('the launcher closed the connection'));
        resolve();
      });
    });
    socket.on('error', (error) => {
      this.end(new LauncherConnectionError(`connection to the launcher: ${error.message}`, { cause: error }));
    });
    socket.on('data', (chunk) => {
      this.receive(chunk);
    });
  }

  static async connect(
    path: string,
    options: LauncherClientOptions,
    signal?: AbortSignal,
  ): Promise<LauncherClient> {
    return new LauncherClient(await connectUnix(path, signal), options);
  }

  /** Rejects with `LauncherError`, `LauncherConnectionError`, or the signal's reason. */
  call<M extends Exclude<Method, StreamMethod | 'subscribe'>>(
    method: M,
    params: Params<M>,
    signal?: AbortSignal,
  ): Promise<Result<M>> {
    return this.request(method, params, signal);
  }

  /** `onStatus` gets every later status, in order. */
  async subscribe(onStatus: (status: DomainStatus) => void, signal?: AbortSignal): Promise<DomainStatus> {
    this.onStatus = onStatus;
    return (await this.request('subscribe', undefined, signal)) as DomainStatus;
  }

  close(): void {
    this.socket.destroy();
  }

  private request(method: Method, params: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.ended)
      return Promise.reject(new LauncherConnectionError('the connection to the launcher has ended'));
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const id = this.nextId++;
    const milliseconds = this.options.timeoutMilliseconds ?? 30_000;
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.pending.delete(id);
        signal?.removeEventListener('abort', abort);
        cancelTimer();
      };
      const abort = (): void => {
        settle();
        reject(signal?.reason as Error);
      };
      const cancelTimer = this.options.clock.timer(milliseconds, () => {
        settle();
        reject(
          new LauncherConnectionError(
            `the launcher did not answer ${method} within ${milliseconds / 1000} s`,
          ),
        );
      });
      signal?.addEventListener('abort', abort, { once: true });
      this.pending.set(id, {
        resolve: (result) => {
          settle();
          resolve(result);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      this.socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  private receive(chunk: Buffer): void {
    try {
      for (const line of this.lines.push(chunk)) this.handle(parseMessage(line));
    } catch (error) {
      const { message } = error as Error;
      this.end(new LauncherConnectionError(`the launcher sent ${message}`, { cause: error }));
      this.socket.destroy();
    }
  }

  private handle(message: Message): void {
    if (message.method !== undefined) {
      const name: keyof LauncherNotifications = 'statusChanged';
      if (message.method === name) this.onStatus?.(message.params as DomainStatus);
      return;
    }
    const pending = typeof message.id === 'number' ? this.pending.get(message.id) : undefined;
    const error = toError(message);
    if (error === undefined) pending?.resolve(message.result);
    else pending?.reject(error);
  }

  private end(error: Error): void {
    this.ended = true;
    for (const call of [...this.pending.values()]) call.reject(error);
  }
}

export interface LauncherConsole {
  /** Raw bytes of the serial console, both ways. Paused until it is read. */
  readonly socket: Socket;
  /** False: what is written is ignored. */
  readonly writer: boolean;
}

/** Attaches to the serial console. Rejects with `LauncherError` (`consoleBusy`) or `LauncherConnectionError`. */
export async function openConsole(
  path: string,
  mode: LauncherMethods['console']['params']['mode'],
  signal: AbortSignal,
): Promise<LauncherConsole> {
  const { socket, result } = await openRaw(path, 'console', { mode }, signal);
  return { socket, writer: result.writer };
}

/** Connects to a port of the guest. Rejects with `LauncherError` or `LauncherConnectionError`. */
export async function openPort(
  path: string,
  params: Params<'portForward'>,
  signal: AbortSignal,
): Promise<Socket> {
  return (await openRaw(path, 'portForward', params, signal)).socket;
}

/** A connection that is the method's stream; paused until it is read. */
async function openRaw<M extends StreamMethod>(
  path: string,
  method: M,
  params: Params<M>,
  signal: AbortSignal,
): Promise<{ readonly socket: Socket; readonly result: Result<M> }> {
  const socket = await connectUnix(path, signal);
  try {
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`);
    const message = parseMessage(await readFirstLine(socket, signal));
    const error = toError(message);
    if (error !== undefined) throw error;
    // The launcher's contract.
    return { socket, result: message.result as Result<M> };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** Leaves the socket paused, with whatever followed the line still to be read. */
function readFirstLine(socket: Socket, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const settle = (): void => {
      signal.removeEventListener('abort', abort);
      socket.off('data', read).off('error', fail).off('close', fail);
    };
    const abort = (): void => {
      settle();
      reject(signal.reason as Error);
    };
    const fail = (cause?: unknown): void => {
      settle();
      reject(new LauncherConnectionError('the launcher closed the connection', { cause }));
    };
    const read = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf(10);
      if (end < 0) {
        if (received.length > maximumLineLength) fail();
        return;
      }
      socket.pause();
      settle();
      if (end + 1 < received.length) socket.unshift(received.subarray(end + 1));
      resolve(received.subarray(0, end).toString('utf8'));
    };
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    socket.on('data', read).once('error', fail).once('close', fail);
  });
}
