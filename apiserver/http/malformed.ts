/** Bytes that are no HTTP request: answered while the connection still stands, then closed. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { ApiError, type Reason } from '../errors/api-error.js';

interface Answer {
  readonly code: number;
  readonly reason: Reason;
  readonly message: string;
}

const malformed: Answer = { code: 400, reason: 'BadRequest', message: 'malformed HTTP request' };
const answers: Readonly<Record<string, Answer | undefined>> = {
  HPE_HEADER_OVERFLOW: {
    code: 431,
    reason: 'RequestEntityTooLarge',
    message: 'the header of the request is too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 408,
    reason: 'Timeout',
    message: 'the request did not arrive in time',
  },
};

export function refuseMalformed(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { code, reason, message } = answers[error.code ?? ''] ?? malformed;
  const body = JSON.stringify({ ...new ApiError(reason, message).toStatus(), code });
  socket.end(
    `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? ''}\r\nContent-Type: application/json\r\nConnection: close\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
