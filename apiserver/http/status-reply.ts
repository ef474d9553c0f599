/** Errors as answers: a Status in JSON, whatever the client accepts. */
import type { Status } from '../../openapi/meta.js';
import type { ApiError } from '../errors/api-error.js';
import type { BytesReply, Reply } from '../request.js';

export function statusReply(error: ApiError): Reply {
  const retryAfter = error.details?.retryAfterSeconds;
  return {
    kind: 'bytes',
    status: error.code,
    contentType: 'application/json',
    chunks: [Buffer.from(`${JSON.stringify(error.toStatus())}\n`)],
    ...(retryAfter === undefined ? {} : { headers: { 'Retry-After': String(retryAfter) } }),
  };
}

/** What a path that nothing serves gets: not a Status, so that clients can tell it from a missing object. */
export function pathNotFound(): BytesReply {
  return textReply(404, '404 page not found\n');
}

export function textReply(
  status: number,
  text: string,
  headers?: Readonly<Record<string, string>>,
): BytesReply {
  return {
    kind: 'bytes',
    status,
    contentType: 'text/plain; charset=utf-8',
    chunks: [Buffer.from(text)],
    ...(headers === undefined ? {} : { headers }),
  };
}

export function jsonReply(value: unknown, status = 200): BytesReply {
  return {
    kind: 'bytes',
    status,
    contentType: 'application/json',
    chunks: [Buffer.from(`${JSON.stringify(value)}\n`)],
  };
}

export function successReply(status: number, details: Status['details']): Reply {
  const body: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    ...(details === undefined ? {} : { details }),
  };
  return jsonReply(body, status);
}
