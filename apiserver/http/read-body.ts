/** The whole body of a request, bounded. */
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors/api-error.js';
import { emptyBody } from './exchange.js';
import { ClientGone } from './request-scope.js';

/** kube-apiserver's limit. */
export const maxBodyBytes = 3 * 1024 * 1024;
const discardFactor = 16;

export function hasBody(request: IncomingMessage): boolean {
  const length = request.headers['content-length'];
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Rejects with RequestEntityTooLarge, UnsupportedMediaType (an encoded body), or `ClientGone`. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (!hasBody(request)) return Promise.resolve(emptyBody);
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    return Promise.reject(
      new ApiError('UnsupportedMediaType', `the body is encoded as ${encoding}: send it as it is`),
    );
  }
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    discard(request, limit);
    return Promise.reject(tooLarge(limit));
  }
  return collect(request, limit);
}

/**
 * Takes the rest of a body that is too large, so that the client gets to read the answer before its connection breaks; but
 * not without limit.
 */
function discard(request: IncomingMessage, limit: number): void {
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > discardFactor * limit) request.socket.destroy();
  });
}

function collect(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const stop = (error: Error): void => {
      request.removeAllListeners('data');
      reject(error);
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      stop(tooLarge(limit));
      discard(request, limit);
    });
    const gone = (): void => stop(new ClientGone());
    request.once('end', () => {
      request.off('close', gone);
      const [only = emptyBody] = chunks;
      resolve(chunks.length <= 1 ? only : Buffer.concat(chunks, size));
    });
    request.once('error', gone);
    request.once('close', gone);
  });
}

function tooLarge(limit: number): ApiError {
  return new ApiError('RequestEntityTooLarge', `Request entity too large: limit is ${limit}`);
}
