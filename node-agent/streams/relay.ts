/** Passes bytes between a websocket and a socket, no faster than the slower end takes them. */
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../../controllers/runtime/clock.js';
import { DatagramReader, frameDatagram } from '../../openapi/launcher/datagrams.js';
import type { StreamTarget } from './stream-target.js';

/** Bytes that may wait in a websocket before its source is paused. */
const highWaterMark = 256 * 1024;
/** Proxies on the way drop connections that are silent for longer. */
const pingInterval = 20_000;

/** For what was received before the websocket closed. */
const lastWordsTimeout = 2000;

/** Codes of RFC 6455. */
const closeCodes = { normal: 1000, goingAway: 1001, policy: 1008, internal: 1011 } as const;

export interface RelayOptions {
  readonly clock: Clock;
  /** Ends the relay from this side. */
  readonly signal: AbortSignal;
}

function toBuffer(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

interface Framing {
  readonly toSocket: (message: Buffer) => Buffer;
  /** The messages that a chunk completes. */
  readonly toMessages: (chunk: Buffer) => readonly Buffer[];
}

function framing(carries: StreamTarget['carries']): Framing {
  if (carries === 'bytes') return { toSocket: (message) => message, toMessages: (chunk) => [chunk] };
  const reader = new DatagramReader();
  return {
    // What is longer than a datagram can be would be lost in UDP, too.
    toSocket: (message) => (message.length > 0xffff ? Buffer.alloc(0) : frameDatagram(message)),
    toMessages: (chunk) => reader.push(chunk),
  };
}

/** Resolves when both ends are closed. Takes over the target's socket, which may be paused with data waiting. */
export async function relay(
  webSocket: WebSocket,
  target: StreamTarget,
  options: RelayOptions,
): Promise<void> {
  const { clock, signal } = options;
  const { socket, takenOver } = target;
  const { toSocket, toMessages } = framing(target.carries);
  let answered = true;
  let cancelPing: (() => void) | undefined;
  const ping = (): void => {
    // A peer whose reading is held up by back pressure cannot answer: that is no sign of its death.
    if (!answered && !webSocket.isPaused) {
      webSocket.terminate();
      return;
    }
    answered = false;
    webSocket.ping();
    cancelPing = clock.timer(pingInterval, ping);
  };
  const stop = (): void => {
    webSocket.close(closeCodes.goingAway, 'the node agent is stopping');
    socket.destroy();
  };

  const yieldToNewcomer = (): void => {
    // A side that is held up by back pressure would not see the answer to its closing frame.
    webSocket.resume();
    webSocket.close(closeCodes.policy, 'another session has taken over');
    socket.destroy();
  };

  const webSocketClosed = new Promise<void>((resolve) => {
    webSocket.once('close', () => {
      cancelPing?.();
      // What the user typed last still reaches the guest, if that takes it.
      const cancel = clock.timer(lastWordsTimeout, () => socket.destroy());
      socket.once('close', cancel);
      socket.end(() => socket.destroy());
      resolve();
    });
  });
  const socketClosed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      // Paused, it would never see the peer's closing frame.
      webSocket.resume();
      webSocket.close(closeCodes.normal, 'the stream has ended');
      resolve();
    });
  });
  webSocket.on('error', () => {
    webSocket.terminate();
  });
  socket.on('error', () => {
    webSocket.close(closeCodes.internal, 'the connection to the virtual machine failed');
  });
  webSocket.on('pong', () => {
    answered = true;
  });
  webSocket.on('message', (data) => {
    if (socket.writable && !socket.write(toSocket(toBuffer(data)))) webSocket.pause();
  });
  socket.on('drain', () => {
    webSocket.resume();
  });
  socket.on('data', (chunk: Buffer) => {
    if (webSocket.readyState !== webSocket.OPEN) return;
    for (const message of toMessages(chunk)) {
      webSocket.send(message, { binary: true }, () => {
        if (webSocket.bufferedAmount < highWaterMark / 2) socket.resume();
      });
    }
    if (webSocket.bufferedAmount > highWaterMark) socket.pause();
  });
  cancelPing = clock.timer(pingInterval, ping);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  if (takenOver?.aborted === true) yieldToNewcomer();
  takenOver?.addEventListener('abort', yieldToNewcomer, { once: true });
  socket.resume();
  await Promise.all([webSocketClosed, socketClosed]);
  signal.removeEventListener('abort', stop);
}
