/** Watches: a line of JSON an event, for as long as the client stays, or `timeoutSeconds`. */
import type { ObjectStore, Watch, WatchEvent, WatchOptions } from '../../storage/interface.js';
import { jsonType, type Representation } from '../codec/media-types.js';
import { compose, head, metadataSlice, type ServedAs } from '../codec/stored-bytes.js';
import { toApiError } from '../errors/status.js';
import { servedAs } from '../registry/endpoint.js';
import { forbiddenValue } from '../registry/metadata-rules.js';
import { columnDefinitions, row, tableStart } from '../table/table.js';
import { readRevisionMatch } from './list.js';
import { flag, integer, invalidOptions } from './options.js';
import type { ResourceHandler, ResourceRequest, Serving } from './request.js';
import { metaApiVersion, representationOf, rowStyle } from './respond.js';
import { readRevision } from './revision.js';
import { readSelection } from './selection.js';
import type { SharedEvents } from './shared-events.js';

type Render = (event: WatchEvent) => Buffer;

/** Without `timeoutSeconds` a watch ends after 30 to 60 minutes, so that clients spread over the servers again. */
const shortestDefaultSeconds = 1800;

async function originOf(
  query: URLSearchParams,
  bookmarks: boolean,
  store: ObjectStore,
): Promise<WatchOptions['from']> {
  const revision = readRevision(query);
  const match = readRevisionMatch(query);
  const initial = flag(query, 'sendInitialEvents');
  if (initial !== undefined && match !== 'NotOlderThan') {
    throw invalidOptions('ListOptions', [
      forbiddenValue(
        'resourceVersionMatch',
        'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ),
    ]);
  }
  if (initial === undefined && match !== undefined) {
    throw invalidOptions('ListOptions', [
      forbiddenValue(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    ]);
  }
  if (initial === true || (initial === undefined && (revision === undefined || revision === 0))) {
    return {
      kind: 'initial',
      bookmark: initial === true && bookmarks,
      // 0 is any state: the one at hand.
      ...(revision === undefined ? {} : { notOlderThan: revision }),
    };
  }
  if (revision !== undefined) return { kind: 'after', revision };
  const newest = await store.list({ at: { kind: 'newest' }, limit: 1 });
  return { kind: 'after', revision: newest.revision };
}

function bookmarkMeta(event: Extract<WatchEvent, { type: 'BOOKMARK' }>): string {
  return JSON.stringify({
    resourceVersion: String(event.revision),
    ...(event.initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
  });
}

function bookmark(as: ServedAs, event: Extract<WatchEvent, { type: 'BOOKMARK' }>): string {
  return `{"kind":"${as.kind}","apiVersion":"${as.apiVersion}","metadata":${bookmarkMeta(event)}}`;
}

function line(type: WatchEvent['type'], object: string): Buffer {
  return Buffer.from(`{"type":"${type}","object":${object}}\n`);
}

function renderObjects(as: ServedAs, shared: SharedEvents): Render {
  return (event) =>
    event.type === 'BOOKMARK'
      ? line('BOOKMARK', bookmark(as, event))
      : shared.line(event, as.apiVersion, () =>
          compose(
            `{"type":"${event.type}","object":${head(as, event.entry.revision)}`,
            event.entry.bytes,
            '}\n',
          ),
        );
}

function renderMetadata(metaVersion: string, shared: SharedEvents): Render {
  const as = { kind: 'PartialObjectMetadata', apiVersion: metaVersion };
  return (event) =>
    event.type === 'BOOKMARK'
      ? line('BOOKMARK', bookmark(as, event))
      : shared.line(event, metaVersion, () =>
          compose(
            `{"type":"${event.type}","object":${head(as, event.entry.revision)}`,
            metadataSlice(event.entry.bytes),
            '}}}\n',
          ),
        );
}

/** Only the first event carries the column definitions. */
function renderTables(request: ResourceRequest, representation: Representation, serving: Serving): Render {
  const { resource } = request.endpoint;
  const style = rowStyle(request, representation, serving.now());
  let columns: string | undefined = columnDefinitions(resource);
  const start = (revision: number): string => {
    const text = tableStart(style.metaVersion, `{"resourceVersion":"${revision}"}`, columns);
    columns = undefined;
    return text;
  };
  return (event) => {
    if (event.type === 'BOOKMARK') {
      const as = { kind: 'PartialObjectMetadata', apiVersion: style.metaVersion };
      const cells = JSON.stringify(resource.columns.map(() => null).concat(null));
      return line('BOOKMARK', `${start(event.revision)}{"cells":${cells},"object":${bookmark(as, event)}}]}`);
    }
    const { prefix, bytes = Buffer.alloc(0), suffix } = row({ ...style, now: serving.now() }, event.entry);
    return compose(
      `{"type":"${event.type}","object":${start(event.entry.revision)}${prefix}`,
      bytes,
      `${suffix}]}}\n`,
    );
  };
}

function renderer(request: ResourceRequest, representation: Representation, serving: Serving): Render {
  const { resource } = request.endpoint;
  switch (representation.as) {
    case 'object':
      return renderObjects(servedAs(resource, request.version), serving.sharedEvents);
    case 'metadata':
      return renderMetadata(metaApiVersion(representation), serving.sharedEvents);
    case 'table':
      return renderTables(request, representation, serving);
  }
}

/** The end of a watch that failed: a Status in the stream, since the answer has begun. */
function errorLine(error: unknown): Buffer {
  return Buffer.from(`${JSON.stringify({ type: 'ERROR', object: toApiError(error).toStatus() })}\n`);
}

async function* chunks(
  watch: Watch,
  render: Render,
  signal: AbortSignal,
  stop: () => void,
): AsyncGenerator<Buffer[]> {
  try {
    for (;;) {
      const events = await watch.next();
      if (events === undefined) return;
      yield events.map(render);
    }
  } catch (error) {
    if (!signal.aborted) yield [errorLine(error)];
  } finally {
    watch.close();
    stop();
  }
}

function timeoutSeconds(query: URLSearchParams, random: number): number {
  const seconds = integer(query, 'timeoutSeconds') ?? 0;
  return seconds > 0 ? seconds : Math.floor(shortestDefaultSeconds * (1 + random));
}

export const watch: ResourceHandler = async (serving, request) => {
  const { context, endpoint } = request;
  const { query } = context;
  const representation = representationOf(request, 'watch');
  const { matches, name, namespace } = readSelection(request);
  const bookmarks = flag(query, 'allowWatchBookmarks') ?? false;
  const origin = await originOf(query, bookmarks, endpoint.store);
  const seconds = timeoutSeconds(query, serving.random());
  const deadline = new AbortController();
  const signal = AbortSignal.any([context.signal, deadline.signal]);
  const stream = endpoint.store.watch({
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(matches === undefined ? {} : { matches }),
    from: origin,
    bookmarks,
    signal,
  });
  const cancel = serving.timer(seconds * 1000, () => {
    deadline.abort();
  });
  signal.addEventListener('abort', cancel, { once: true });
  // Who sees that the answer begins counts on being told of all that comes after.
  await stream.begin();
  return {
    kind: 'stream',
    contentType: jsonType,
    chunks: chunks(stream, renderer(request, representation, serving), signal, cancel),
  };
};
