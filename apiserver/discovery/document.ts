/** A document that is made once and served from memory, with its ETag. */
import { createHash } from 'node:crypto';
import type { Reply, RequestContext } from '../request.js';

export interface Document {
  readonly bytes: Buffer;
  readonly contentType: string;
  /** Quoted, as the header has it. */
  readonly etag: string;
}

export function jsonDocument(value: unknown, contentType = 'application/json'): Document {
  return document(Buffer.from(`${JSON.stringify(value)}\n`), contentType);
}

export function document(bytes: Buffer, contentType: string): Document {
  return { bytes, contentType, etag: `"${hashOf(bytes)}"` };
}

/** SHA-512 in upper-case hexadecimal, as kube-apiserver makes its ETags and OpenAPI hashes. */
export function hashOf(bytes: Buffer): string {
  return createHash('sha512').update(bytes).digest('hex').toUpperCase();
}

/** The document, or 304 if the client has it already. */
export function serveDocument(
  context: RequestContext,
  { bytes, contentType, etag }: Document,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const known = context.headers['if-none-match'];
  const match = known?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) === true;
  return {
    kind: 'bytes',
    status: match ? 304 : 200,
    contentType,
    chunks: match ? [] : [bytes],
    headers: { ETag: etag, Vary: 'Accept', ...headers },
  };
}
