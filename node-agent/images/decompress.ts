/** Layers are tar archives: plain, gzip or zstd, told apart by their first bytes, whatever the media type says. */
import { spawn } from 'node:child_process';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { errorCode } from '../files.js';
import { ImageError } from './errors.js';

type Compression = 'gzip' | 'zstd' | 'none';

function compressionOf(head: Buffer): Compression {
  if (head.length >= 2 && head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  if (head.length >= 4 && head.readUInt32LE(0) === 0xfd2fb528) return 'zstd';
  return 'none';
}

/** Reads until four bytes are there (or the end), then gives everything back in order. */
async function peek(
  content: AsyncIterable<Buffer>,
): Promise<{ head: Buffer; all: AsyncGenerator<Buffer, void, undefined> }> {
  const iterator = content[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let ended = false;
  while (head.length < 4 && !ended) {
    const next = await iterator.next();
    if (next.done === true) ended = true;
    else head = Buffer.concat([head, next.value]);
  }
  async function* all(): AsyncGenerator<Buffer, void, undefined> {
    try {
      yield head;
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
        yield next.value;
    } finally {
      await iterator.return?.();
    }
  }
  return { head, all: all() };
}

/** Node 20 has no zstd of its own. */
async function throughZstd(
  content: AsyncIterable<Buffer>,
  sink: NodeJS.WritableStream,
  image: string,
  signal: AbortSignal,
): Promise<void> {
  const child = spawn('zstd', ['--decompress', '--stdout', '--quiet'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    signal,
  });
  const exited = new Promise<void>((resolve, reject) => {
    child.once('error', (error) => {
      reject(
        errorCode(error) === 'ENOENT'
          ? new ImageError(
              'Unsupported',
              `image "${image}" has zstd layers: install the program "zstd" on this node, or push the image with gzip`,
            )
          : error,
      );
    });
    child.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new ImageError('Malformed', `image "${image}": a layer is not valid zstd`));
    });
  });
  const results = await Promise.allSettled([
    exited,
    pipeline(Readable.from(content), child.stdin, { signal }),
    pipeline(child.stdout, sink, { signal }),
  ]);
  child.kill('SIGKILL');
  // Of the content's own faults and the program's, the content's (a wrong digest) is the cause.
  const failures = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  const cause =
    failures.find((error) => error instanceof ImageError && error.code !== 'Malformed') ?? failures[0];
  if (cause !== undefined) throw cause as Error;
}

/** Feeds the layer's tar archive into `sink`; rejects with what broke the content, the decompressor or the sink. */
export async function decompressInto(
  content: AsyncIterable<Buffer>,
  sink: NodeJS.WritableStream,
  image: string,
  signal: AbortSignal,
): Promise<void> {
  const { head, all } = await peek(content);
  const compression = compressionOf(head);
  if (compression === 'zstd') return throughZstd(all, sink, image, signal);
  const source = Readable.from(all, { objectMode: false });
  try {
    if (compression === 'gzip')
      await pipeline(source, createGunzip({ chunkSize: 128 * 1024 }), sink, { signal });
    else await pipeline(source, sink, { signal });
  } catch (error) {
    if (errorCode(error)?.startsWith('Z_') === true) {
      throw new ImageError('Malformed', `image "${image}": a layer is not valid gzip`, { cause: error });
    }
    throw error;
  }
}
