/** Bytes that are no HTTP request: answered while the connection still stands, then closed. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError } from '../errors/api-error.js';

const answers: Readonly<Record<string, { code: number; message: string } | undefined>> = {
  HPE_HEADER_OVERFLOW: { code: 431, message: 'the header of the request is too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 408, message: 'the request did not arrive in time' },
};

export function refuseMalformed(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { code, message } = answers[error.code ?? ''] ?? { code: 400, message: 'malformed HTTP request' };
  const body = JSON.stringify({ ...new ApiError('BadRequest', message).toStatus(), code });
  socket.end(
    `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}\r\nContent-Type: application/json\r\nConnection: close\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
