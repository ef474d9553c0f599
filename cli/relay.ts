/** Bytes between the user's terminal and a websocket, until either end is through. */
import type { RawData, WebSocket } from 'ws';
import type { Terminal } from './terminal.js';

/** Ctrl+]: leaves the console, as telnet and virtctl have it. */
const escapeKey = 0x1d;
/** Some hops drop connections that are quiet for 20 s. Milliseconds. */
const pingInterval = 10_000;
/** Above so many unsent bytes, input waits. */
const highWaterMark = 64 * 1024;

export interface RelayOptions {
  readonly readOnly: boolean;
  readonly signal: AbortSignal;
}

export function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

/**
 * `left`: the user pressed the escape key. `lost`: the connection ended. Rejects with the signal's reason. The terminal
 * is raw meanwhile and as before afterwards.
 */
export function relay(
  socket: WebSocket,
  terminal: Terminal,
  { readOnly, signal }: RelayOptions,
): Promise<'left' | 'lost'> {
  return new Promise((resolve, reject) => {
    const { input, output } = terminal;
    let answered = true;
    let settled = false;

    const finish = (settle: () => void): void => {
      if (settled) return;
      settled = true;
      clearInterval(pinging);
      input.off('data', onInput);
      input.pause();
      signal.removeEventListener('abort', onAbort);
      terminal.setRaw(false);
      settle();
    };
    const leave = (): void => {
      finish(() => {
        resolve('left');
      });
      socket.close(1000);
    };
    const onInput = (chunk: Buffer): void => {
      const escape = terminal.interactive ? chunk.indexOf(escapeKey) : -1;
      const typed = escape < 0 ? chunk : chunk.subarray(0, escape);
      if (!readOnly && typed.length > 0) send(typed);
      if (escape >= 0) leave();
    };
    const send = (data: Buffer): void => {
      socket.send(data, () => {
        if (input.isPaused() && socket.bufferedAmount < highWaterMark && !settled) input.resume();
      });
      if (socket.bufferedAmount >= highWaterMark) input.pause();
    };
    const onAbort = (): void => {
      finish(() => {
        reject(signal.reason as Error);
      });
      socket.close(1000);
    };
    const pinging = setInterval(() => {
      if (!answered) socket.terminate();
      answered = false;
      socket.ping();
    }, pingInterval);

    socket.on('pong', () => {
      answered = true;
    });
    socket.on('message', (data) => {
      if (!output.write(bytesOf(data))) {
        socket.pause();
        output.once('drain', () => {
          socket.resume();
        });
      }
    });
    socket.resume();
    socket.once('close', () => {
      finish(() => {
        resolve('lost');
      });
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) {
      onAbort();
      return;
    }
    terminal.setRaw(true);
    input.on('data', onInput);
    input.resume();
  });
}
