/** The server's end of websockets: handshake, liveness, and a relay between two of them. */
import type { IncomingMessage } from 'node:http';
import { WebSocketServer, type RawData, type WebSocket } from 'ws';
import type { UpgradeSocket } from '../http/exchange.js';
import { chooseProtocol, isClosing, streamProtocol } from './stream-protocols.js';

/** Consoles and VNC never need a larger message. */
export const maxPayloadBytes = 1024 * 1024;
/** Above this, the other side is not read until the queue has drained. */
const highWaterBytes = 256 * 1024;
/** Proxies on the way cut connections that are silent for longer than about this. */
const pingIntervalMs = 20_000;
const allowedMissedPongs = 2;
/** A peer that does not answer a close frame is cut off after this. */
const closeTimeoutMs = 2_000;

const server = (): WebSocketServer =>
  new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxPayloadBytes,
    handleProtocols: (offered) => chooseProtocol(offered) ?? false,
  });

/** Answers the handshake. `undefined` if it is none: ws has refused it on the socket then. */
export function acceptWebSocket(
  request: IncomingMessage,
  { socket, head }: UpgradeSocket,
): Promise<WebSocket | undefined> {
  return new Promise((resolve) => {
    socket.once('close', () => {
      resolve(undefined);
    });
    server().handleUpgrade(request, socket, head, resolve);
  });
}

/** Whether ws will take the handshake; checked before anything is dialled for it. */
export function isWebSocketHandshake({ method, headers }: IncomingMessage): boolean {
  const key = headers['sec-websocket-key'];
  const version = headers['sec-websocket-version'];
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    key !== undefined &&
    /^[+/0-9A-Za-z]{22}==$/.test(key) &&
    (version === '13' || version === '8')
  );
}

/**
 * Passes payloads both ways until either side is gone, then closes the other. Resolves when both are closed. The backend
 * speaks plain bytes, the client what was agreed with it.
 * @param signal ends both sides with 1001 (going away)
 */
export async function relay(
  client: WebSocket,
  backend: WebSocket,
  signal: AbortSignal,
  { pingMs = pingIntervalMs }: { readonly pingMs?: number } = {},
): Promise<void> {
  const stop = (): void => {
    closeSoon(client, 1001, 'the server is stopping');
    closeSoon(backend, 1001, 'the server is stopping');
  };
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const { decode, encode } = streamProtocol(client.protocol);
  pass(client, backend, (message) => {
    if (isClosing(client.protocol, message)) closeSoon(client, 1000, 'the client has sent all');
    return decode(message);
  });
  pass(backend, client, encode);
  const timers = [keepAlive(client, pingMs), keepAlive(backend, pingMs)];
  try {
    await Promise.all([
      closed(client).then(({ code, reason }) => {
        closeSoon(backend, passableCode(code), reason);
      }),
      closed(backend).then(({ code, reason }) => {
        closeSoon(client, passableCode(code), reason);
      }),
    ]);
  } finally {
    timers.forEach(clearInterval);
    signal.removeEventListener('abort', stop);
  }
}

/** Datagrams are messages: each goes on as one, empty ones included. Bytes go on as binary, whatever a browser calls them. */
function pass(
  from: WebSocket,
  to: WebSocket,
  convert: (message: Buffer) => string | Buffer | undefined,
): void {
  from.on('message', (data: RawData) => {
    if (to.readyState !== to.OPEN) return;
    const message = convert(bytesOf(data));
    if (message === undefined) return;
    to.send(message, { binary: typeof message !== 'string' }, () => {
      if (from.isPaused && to.bufferedAmount < highWaterBytes) from.resume();
    });
    if (to.bufferedAmount >= highWaterBytes) from.pause();
  });
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

/** Sends pings, and cuts off a peer that stopped answering. */
function keepAlive(socket: WebSocket, pingMs: number): NodeJS.Timeout {
  let missed = 0;
  socket.on('pong', () => (missed = 0));
  const timer = setInterval(() => {
    if (socket.readyState !== socket.OPEN) return;
    // A peer whose reading is held up by back pressure can not be heard: that is no sign of its death.
    if (missed >= allowedMissedPongs && !socket.isPaused) {
      socket.terminate();
      return;
    }
    missed++;
    socket.ping();
  }, pingMs);
  timer.unref();
  return timer;
}

interface Close {
  readonly code: number;
  readonly reason: string;
}

function closed(socket: WebSocket): Promise<Close> {
  return new Promise((resolve) => {
    // A broken connection raises an error first and closes then; the close says enough.
    socket.on('error', () => undefined);
    if (socket.readyState === socket.CLOSED) resolve({ code: 1006, reason: '' });
    socket.once('close', (code, reason) => {
      resolve({ code, reason: reason.toString() });
    });
  });
}

/** Codes that may be sent: those that only describe what happened on one connection become "going wrong" on the other. */
function passableCode(code: number): number {
  if (code === 1005) return 1000;
  const passable =
    (code >= 1000 && code <= 1014 && code !== 1004 && code !== 1006) || (code >= 3000 && code <= 4999);
  return passable ? code : 1011;
}

/** Also closes a side that is paused by back pressure: it would not read the other's answer. */
function closeSoon(socket: WebSocket, code: number, reason: string): void {
  if (socket.readyState === socket.CLOSED) return;
  if (socket.isPaused) socket.resume();
  socket.close(code, reason.slice(0, 120));
  const timer = setTimeout(() => {
    socket.terminate();
  }, closeTimeoutMs);
  socket.once('close', () => {
    clearTimeout(timer);
  });
}
