/** Turns the bytes of a watch answer into events. */
import type { ObjectMeta, Status } from '../../openapi/meta.js';
import type { WatchEvent } from './client.js';
import { ConnectionError, StatusError } from './errors.js';

/** Annotation of the bookmark that ends the initial events of a watch. */
const initialEventsEnd = 'k8s.io/initial-events-end';

/**
 * The lines of a stream, without their ends. A line longer than `maxBytes`, or a last line without its end, is a
 * `ConnectionError`: what follows can not be trusted.
 */
export async function* lines(stream: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string> {
  let pieces: Buffer[] = [];
  let pending = 0;
  for await (const chunk of stream) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const piece = chunk.subarray(start, end);
      start = end + 1;
      if (pending + piece.length > maxBytes) throw tooLong(maxBytes);
      const line = pending === 0 ? piece.toString() : Buffer.concat([...pieces, piece]).toString();
      pieces = [];
      pending = 0;
      yield line;
    }
    if (start === chunk.length) continue;
    pieces.push(chunk.subarray(start));
    pending += chunk.length - start;
    if (pending > maxBytes) throw tooLong(maxBytes);
  }
  if (pending > 0) throw new ConnectionError('the watch ended in the middle of an event');
}

const tooLong = (maxBytes: number): ConnectionError =>
  new ConnectionError(`a watch event is longer than ${maxBytes} bytes`);

/** The events of a watch answer. An ERROR event is thrown as `StatusError`. */
export async function* watchEvents<T>(
  stream: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<WatchEvent<T>> {
  for await (const line of lines(stream, maxBytes)) {
    if (line.trim() !== '') yield parse<T>(line);
  }
}

function parse<T>(line: string): WatchEvent<T> {
  const event = decode(line);
  switch (event.type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      // The server owns the shape of what it serves under this kind.
      return { type: event.type, object: event.object as T };
    case 'BOOKMARK': {
      const { metadata } = event.object as { metadata?: Partial<ObjectMeta> };
      if (metadata?.resourceVersion === undefined)
        throw new ConnectionError('a watch bookmark carries no resourceVersion');
      return {
        type: 'BOOKMARK',
        resourceVersion: metadata.resourceVersion,
        ...(metadata.annotations?.[initialEventsEnd] === 'true' ? { initialEventsEnd: true } : {}),
      };
    }
    case 'ERROR':
      throw new StatusError(event.object as Status);
    default:
      throw new ConnectionError(`a watch event has the unknown type ${JSON.stringify(event.type)}`);
  }
}

function decode(line: string): { type: unknown; object: object } {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (error) {
    throw new ConnectionError('a watch event is not JSON', { cause: error });
  }
  if (typeof event !== 'object' || event === null || !('type' in event) || !('object' in event))
    throw new ConnectionError('a watch event lacks its type or object');
  if (typeof event.object !== 'object' || event.object === null)
    throw new ConnectionError('the object of a watch event is not an object');
  return { type: event.type, object: event.object };
}
