/**
 * A gRPC server on a unix socket, as far as a device plugin needs one: without compression and metadata. The package that speaks all of gRPC
 * would be an eighth of a node agent's memory.
 */
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { codes, contentType, frame, GrpcError, outcome, readMessage } from './grpc-messages.js';

export interface AnswerStream {
  /** Nothing, once the stream has ended. */
  write(message: Buffer): void;
  /** At once, if it has ended already. */
  onClose(listener: () => void): void;
}

export type GrpcMethod =
  /** One answer. A rejection tells the caller that the request is not valid. */
  | { readonly kind: 'unary'; readonly answer: (request: Buffer) => Promise<Buffer> }
  /** Answers until the caller goes or the server closes. */
  | { readonly kind: 'stream'; readonly answer: (stream: AnswerStream) => Promise<void> };

/** By path: `/package.Service/Method`. */
export type GrpcMethods = ReadonlyMap<string, GrpcMethod>;

export interface GrpcServer {
  /** Ends all calls. */
  close(): void;
}

/** Resolves once it listens. */
export async function serveGrpc(socket: string, methods: GrpcMethods): Promise<GrpcServer> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session)).on('error', () => session.destroy());
  });
  server.on('stream', (stream, headers) => {
    // A caller that goes away is no fault of the server.
    stream.on('error', () => stream.destroy());
    serve(stream, headers, methods).catch((error: unknown) => refuse(stream, error));
  });
  server.listen(socket);
  await once(server, 'listening');
  return {
    close() {
      server.close();
      for (const session of sessions) session.destroy();
    },
  };
}

async function serve(
  stream: ServerHttp2Stream,
  { ':path': path = '' }: IncomingHttpHeaders,
  methods: GrpcMethods,
): Promise<void> {
  const method = methods.get(path);
  if (method === undefined) throw new GrpcError(codes.unimplemented, `there is no method ${path}`);
  const request = await readMessage(stream);
  if (method.kind === 'unary') {
    const answer = await method.answer(request);
    open(stream);
    stream.end(frame(answer));
    return;
  }
  open(stream);
  await method.answer({
    write: (message) => {
      if (!stream.destroyed) stream.write(frame(message));
    },
    onClose: (listener) => {
      if (stream.closed) listener();
      else stream.on('close', listener);
    },
  });
}

function open(stream: ServerHttp2Stream): void {
  if (stream.destroyed) return;
  stream.respond({ ':status': 200, 'content-type': contentType }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(outcome()));
}

function refuse(stream: ServerHttp2Stream, error: unknown): void {
  if (stream.destroyed || stream.headersSent) {
    stream.destroy();
    return;
  }
  const trailers = outcome(error instanceof Error ? error : new Error(String(error)));
  stream.respond({ ':status': 200, 'content-type': contentType, ...trailers }, { endStream: true });
}
