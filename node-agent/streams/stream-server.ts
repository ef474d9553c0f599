/** Serves this node's VMIs to the API server, streams and calls: HTTPS with client certificates, websockets. */
import { constants } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Clock } from '../../controllers/runtime/clock.js';
import type { Logger } from '../../controllers/runtime/logger.js';
import { handleCall, writeAnswer } from '../calls/call-handler.js';
import { ExclusiveSessions } from './exclusive-sessions.js';
import { parseBundle, refusePeer } from './peer.js';
import { Refusal, refuseUpgrade } from './refusal.js';
import { relay } from './relay.js';
import { parseRequest, type Instances } from './request.js';
import { openStream, type StreamTarget } from './stream-target.js';

/** PEM. */
export interface StreamCredentials {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface StreamServerOptions extends Instances {
  /** Asked at start, and again by `reload`. */
  readonly credentials: () => StreamCredentials;
  /** Where it listens. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

const maximumMessage = 1024 * 1024;
const handshakeTimeout = 10_000;

export class StreamServer {
  private readonly server: Server;
  private readonly webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: maximumMessage,
    perMessageDeflate: false,
  });
  private readonly streams = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private readonly sessions = new ExclusiveSessions();
  private authorities: ReturnType<typeof parseBundle> = [];

  constructor(private readonly options: StreamServerOptions) {
    setMaxListeners(0, this.stopping.signal);
    this.server = createServer({
      ...this.secureContext(),
      requestCert: true,
      rejectUnauthorized: true,
      handshakeTimeout,
      // The API server dials anew for each stream; resumed sessions only make the peer's identity harder to know.
      secureOptions: constants.SSL_OP_NO_TICKET,
      minVersion: 'TLSv1.2',
      ALPNProtocols: ['http/1.1'],
    });
    this.server.on('request', (request, response) => {
      void this.answer(request, response);
    });
    this.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const stream = this.upgrade(request, socket, head).finally(() => this.streams.delete(stream));
      this.streams.add(stream);
    });
  }

  /** Streams that are open or being opened. */
  get size(): number {
    return this.streams.size;
  }

  /** Reads the credentials again; open streams go on. */
  reload(): void {
    this.server.setSecureContext(this.secureContext());
  }

  private secureContext(): StreamCredentials {
    const credentials = this.options.credentials();
    this.authorities = parseBundle(credentials.ca);
    return credentials;
  }

  /** Resolves with the port. */
  async listen(): Promise<number> {
    const { host, port } = this.options;
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
    // It listens on TCP.
    return (this.server.address() as AddressInfo).port;
  }

  /** Ends all streams and frees the port. */
  async close(): Promise<void> {
    this.stopping.abort();
    const closed = new Promise<void>((resolve) => {
      this.server.close(() => {
        resolve();
      });
    });
    const cancel = this.options.clock.timer(1000, () => {
      for (const webSocket of this.webSockets.clients) webSocket.terminate();
      this.server.closeAllConnections();
    });
    this.server.closeIdleConnections();
    await Promise.all([...this.streams, closed]);
    cancel();
    this.webSockets.close();
  }

  private peerRefusal(request: IncomingMessage): Refusal | undefined {
    const { socket } = request;
    const why =
      socket instanceof TLSSocket
        ? refusePeer(socket, this.authorities, this.options.clock.now())
        : 'the connection is not encrypted';
    return why === undefined ? undefined : new Refusal('Forbidden', why);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => {
      gone.abort(new Error('the client went away'));
    });
    // Calls have no bodies.
    request.resume();
    response.shouldKeepAlive = false;
    try {
      const refused = this.peerRefusal(request);
      if (refused !== undefined) throw refused;
      writeAnswer(response, await handleCall(request, this.options, this.options.clock, gone.signal));
    } catch (error) {
      if (gone.signal.aborted) return;
      const refusal = this.toRefusal(error, 'a call failed', 'the node agent failed to carry out the call');
      response.writeHead(refusal.code, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(refusal.status));
    }
  }

  private async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const gone = new AbortController();
    const leave = (): void => {
      gone.abort(new Error('the client went away'));
    };
    socket.once('close', leave).on('error', leave);
    this.stopping.signal.addEventListener('abort', leave, { once: true });
    let target: StreamTarget | undefined;
    try {
      const refused = this.peerRefusal(request);
      if (refused !== undefined) throw refused;
      if (request.method !== 'GET') throw new Refusal('MethodNotAllowed', 'streams are opened with GET');
      const wanted = parseRequest(request.url ?? '');
      const { options, sessions } = this;
      target = await openStream(
        wanted,
        { ...options, sessions, vsockCredentials: options.credentials },
        gone.signal,
      );
      const webSocket = await this.accept(request, socket, head, target);
      socket.off('close', leave);
      const { namespace, name, subject: stream } = wanted;
      this.options.logger.info({ namespace, name, stream }, 'a stream was opened');
      await relay(webSocket, target, { clock: this.options.clock, signal: this.stopping.signal });
      this.options.logger.info({ namespace, name, stream }, 'a stream was closed');
    } catch (error) {
      target?.socket.destroy();
      this.refuse(socket, error, gone.signal);
    } finally {
      target?.release?.();
      this.stopping.signal.removeEventListener('abort', leave);
    }
  }

  /** Rejects if the handshake is no websocket's; ws has answered then. */
  private accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    { socket: target }: StreamTarget,
  ): Promise<WebSocket> {
    return new Promise((resolve, reject) => {
      const failed = (): void => {
        reject(new Refusal('BadRequest', 'not a websocket handshake'));
      };
      socket.once('close', failed);
      target.once('close', failed);
      this.webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        socket.off('close', failed);
        target.off('close', failed);
        resolve(webSocket);
      });
    });
  }

  private refuse(socket: Duplex, error: unknown, gone: AbortSignal): void {
    if (gone.aborted || socket.destroyed || !socket.writable) {
      socket.destroy();
      return;
    }
    refuseUpgrade(
      socket,
      this.toRefusal(error, 'a stream could not be opened', 'the node agent failed to open the stream'),
    );
  }

  private toRefusal(error: unknown, log: string, message: string): Refusal {
    if (error instanceof Refusal) return error;
    this.options.logger.error({ err: error }, log);
    return new Refusal('InternalError', message);
  }
}
