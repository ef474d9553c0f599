/** Replies onto the wire, with back pressure. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { compose } from '../codec/stored-bytes.js';
import type { Reply } from '../request.js';
import type { Exchange } from './exchange.js';

/** As kube-apiserver: smaller answers cost more to compress than to send. */
const gzipThresholdBytes = 128 * 1024;
/**
 * Chunks are merged up to about this size. Of 16 KiB to 4 MiB this was the cheapest for a list of 13 MB in 4,800 chunks:
 * a third of the time of writing one buffer, and half of that of writing every chunk by itself.
 */
const batchBytes = 256 * 1024;
/** So many are sent side by side: for a few, memory to join them in costs more. */
const fewChunks = 4;

type BytesReply = Extract<Reply, { kind: 'bytes' }>;
type StreamReply = Extract<Reply, { kind: 'stream' }>;

/** Resolves when everything was handed to the connection, or the client has gone. */
export function writeReply(exchange: Exchange, reply: Reply): Promise<void> {
  if (exchange.response.destroyed) return discardReply(reply);
  return reply.kind === 'bytes' ? writeBytes(exchange, reply) : writeStream(exchange, reply);
}

/** Lets go of what stands behind a reply that nobody waits for any more: its request has been aborted. */
export async function discardReply(reply: Reply): Promise<void> {
  if (reply.kind !== 'stream') return;
  const source = reply.chunks[Symbol.asyncIterator]();
  try {
    // A generator cleans up only after it has begun.
    await source.next();
  } finally {
    await source.return?.();
  }
}

function headers(exchange: Exchange, contentType: string, more?: Readonly<Record<string, string>>): string[] {
  const list = ['Audit-Id', exchange.auditId, 'Content-Type', contentType];
  if (more?.['Cache-Control'] === undefined) list.push('Cache-Control', 'no-cache, private');
  for (const name in more) list.push(name, more[name] ?? '');
  for (const text of exchange.warnings) list.push('Warning', warningHeader(text));
  return list;
}

/** `299 - "text"` (RFC 7234), with everything a header can not hold replaced. */
export function warningHeader(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what must not pass
  const printable = text.replace(/[\u0000-\u001f\u007f]+/g, ' ');
  const quoted = printable.replace(/(["\\])/g, '\\$1');
  return `299 - "${Buffer.from(quoted, 'utf8').toString('latin1')}"`;
}

async function writeBytes(exchange: Exchange, reply: BytesReply): Promise<void> {
  const { response } = exchange;
  const { chunks } = reply;
  let length = 0;
  for (const chunk of chunks) length += chunk.length;
  exchange.bytesWritten = length;
  if (exchange.keepResponse) exchange.responseChunks = chunks;
  const list = headers(exchange, reply.contentType, reply.headers);
  if (length > gzipThresholdBytes && acceptsGzip(exchange.request.headers['accept-encoding'])) {
    await writeCompressed(response, reply, list);
    return;
  }
  // 304 and 204 have no body, and say nothing of its length.
  if (reply.status !== 304 && reply.status !== 204) list.push('Content-Length', String(length));
  response.writeHead(reply.status, list);
  if (length > batchBytes || chunks.length > fewChunks) {
    await writeBatches(response, chunks);
    return;
  }
  // Until the end, which lets go of it, all is held: head and body leave in one write.
  response.cork();
  for (const chunk of chunks.slice(0, -1)) response.write(chunk);
  response.end(chunks.at(-1));
}

async function writeBatches(response: ServerResponse, chunks: readonly Buffer[]): Promise<void> {
  for (const batch of batches(chunks)) {
    if (!response.write(batch)) await drained(response);
    if (response.destroyed) return;
  }
  response.end();
}

/** Few large buffers for many small ones; large ones pass as they are. */
export function* batches(chunks: readonly Buffer[]): Generator<Buffer> {
  let pending: Buffer[] = [];
  let size = 0;
  for (const chunk of chunks) {
    if (size + chunk.length > batchBytes && pending.length > 0) {
      yield merge(pending, size);
      pending = [];
      size = 0;
    }
    pending.push(chunk);
    size += chunk.length;
  }
  if (pending.length > 0) yield merge(pending, size);
}

function merge(chunks: readonly Buffer[], size: number): Buffer {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size);
}

async function writeCompressed(response: ServerResponse, reply: BytesReply, list: string[]): Promise<void> {
  list.push('Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding');
  response.writeHead(reply.status, list);
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  await pipeline(Readable.from(batches(reply.chunks), { objectMode: false }), gzip, response).catch(
    (error: unknown) => {
      // A client that leaves in the middle is no fault of the answer.
      if (!response.destroyed) throw error;
    },
  );
}

async function writeStream(exchange: Exchange, reply: StreamReply): Promise<void> {
  const { response } = exchange;
  response.writeHead(200, headers(exchange, reply.contentType));
  response.flushHeaders();
  // An HTTP/1.0 client gets the bytes as they are. For the others we frame them ourselves: node would, in four pieces, for every watcher anew.
  const framed = response.chunkedEncoding;
  response.chunkedEncoding = false;
  try {
    for await (const chunks of reply.chunks) {
      if (response.destroyed) return;
      const length = totalLength(chunks);
      exchange.bytesWritten += length;
      exchange.countEvents?.(chunks.length);
      if (length === 0) continue;
      let takesMore = true;
      response.cork();
      for (const frame of framed ? framesOf(chunks, length) : chunks) takesMore = response.write(frame);
      response.uncork();
      if (!takesMore) await drained(response);
    }
  } catch (error) {
    // A source that ends with the reason it was given has ended as it should.
    if (error !== exchange.scope.reason) throw error;
  }
  response.end(framed ? lastFrame : undefined);
}

const lastFrame = '0\r\n\r\n';
const frames = new WeakMap<Buffer, Buffer>();

/** Chunks as HTTP's chunked coding sends them; none of them is empty. */
function framesOf(chunks: readonly Buffer[], length: number): readonly Buffer[] {
  if (chunks.length <= fewChunks) return chunks.map(frameOf);
  return [Buffer.from(`${length.toString(16)}\r\n`), merge(chunks, length), Buffer.from('\r\n')];
}

/** Watchers of one event share its chunk, and so its frame. */
function frameOf(chunk: Buffer): Buffer {
  let frame = frames.get(chunk);
  if (frame === undefined) {
    frame = compose(`${chunk.length.toString(16)}\r\n`, chunk, '\r\n');
    frames.set(chunk, frame);
  }
  return frame;
}

function totalLength(chunks: readonly Buffer[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
}

/** Until the connection takes more, or is gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
    if (response.destroyed) done();
  });
}

export function acceptsGzip(header: string | string[] | undefined): boolean {
  if (header === undefined) return false;
  const text = Array.isArray(header) ? header.join(',') : header;
  return text.split(',').some((part) => {
    const [coding = '', ...parameters] = part.trim().toLowerCase().split(';');
    return coding.trim() === 'gzip' && !parameters.some((parameter) => /^\s*q=0(\.0*)?\s*$/.test(parameter));
  });
}
