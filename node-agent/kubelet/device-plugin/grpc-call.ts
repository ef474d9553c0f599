/** One gRPC call to a server on a unix socket. */
import { connect as connectHttp2, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import { codes, contentType, frame, GrpcError, readMessage } from './grpc-messages.js';

export interface GrpcCall {
  readonly socket: string;
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly request: Buffer;
  readonly signal: AbortSignal;
}

/** Resolves with the answer. Rejects with `GrpcError`, or with what keeps the call from its server. */
export function callGrpc({ socket, path, request, signal }: GrpcCall): Promise<Buffer> {
  const session = connectHttp2('http://localhost', { createConnection: () => connect(socket) });
  const answer = new Promise<Buffer>((resolve, reject) => {
    session.on('error', reject);
    const stream = session.request(
      { ':method': 'POST', ':path': path, 'content-type': contentType, te: 'trailers' },
      { signal },
    );
    exchange(stream, request).then(resolve, reject);
  });
  return answer.finally(() => session.destroy());
}

async function exchange(stream: ClientHttp2Stream, request: Buffer): Promise<Buffer> {
  let status: IncomingHttpHeaders = {};
  const note = (headers: IncomingHttpHeaders): void => void (status = { ...status, ...headers });
  // A refusal without an answer has its status in the first headers.
  stream.on('response', note).on('trailers', note);
  stream.end(frame(request));
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  const { 'grpc-status': code, 'grpc-message': message = '' } = status;
  if (code === String(codes.ok)) return readMessage(chunks);
  throw new GrpcError(
    code === undefined ? codes.internal : Number(code),
    `the call was refused with code ${String(code)}: ${decodeURIComponent(String(message))}`,
  );
}
