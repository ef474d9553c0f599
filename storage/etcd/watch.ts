import * as grpc from '@grpc/grpc-js';
import { CompactedError, UnavailableError } from '../errors.js';
import type { BackendEvent, BackendEvents, BackendWatchOptions, Revision } from '../interface.js';
import { isServiceError, translate, type WatchStream } from './connection.js';
import { rangeEnd, type Keyspace } from './keyspace.js';
import type { EtcdEvent, WatchResponse } from './messages.js';

export interface WatchParts {
  readonly keyspace: Keyspace;
  readonly stream: WatchStream;
  readonly prefix: string;
  readonly after: Revision;
  readonly options: BackendWatchOptions;
  /** Told once that the watch is in force, and which revision is the newest then. */
  readonly created: (newest: Revision) => void;
  /** Told how far the watch is. */
  readonly reached: (revision: Revision) => void;
  /** Told whether the next answer is awaited now. */
  readonly awaited: (isAwaited: boolean) => void;
}

/** Reads one watch stream. Ends when the stream is cancelled. */
export async function* readWatch(parts: WatchParts): AsyncGenerator<BackendEvents, void, undefined> {
  const { keyspace, stream, prefix, after, options, created, reached } = parts;
  const key = keyspace.key(prefix);
  stream.write({
    create: {
      key,
      rangeEnd: rangeEnd(key),
      startRevision: after + 1,
      progressNotify: true,
      prevKv: options.previous !== false,
      fragment: true,
    },
  });
  let position = after;
  let held: EtcdEvent[] = [];
  try {
    for await (const response of responses(parts)) {
      if (response.canceled) throw cancelError(response, position);
      if (response.created) {
        created(response.header.revision);
        yield { revision: after, events: [] };
        continue;
      }
      held.push(...response.events);
      // A revision may be cut in two by the size of messages.
      if (response.fragment) continue;
      const events = held;
      held = [];
      const newest = events.at(-1)?.kv.modRevision ?? response.header.revision;
      if (newest <= position) continue;
      for (const [revision, group] of byRevision(events)) {
        position = revision;
        const ours = group.filter(({ kv }) => !keyspace.isMarker(kv));
        yield { revision, events: ours.map((event) => toEvent(keyspace, event, options)) };
      }
      if (events.length === 0) {
        position = newest;
        yield { revision: newest, events: [] };
      }
      reached(newest);
    }
  } catch (error) {
    if (isServiceError(error) && error.code === grpc.status.CANCELLED) return;
    throw translate(error, 'watch');
  } finally {
    stream.cancel();
  }
  throw new UnavailableError('etcd ended the watch');
}

async function* responses({ stream, awaited }: WatchParts): AsyncGenerator<WatchResponse> {
  awaited(true);
  for await (const response of stream as AsyncIterable<WatchResponse>) {
    awaited(false);
    yield response;
    awaited(true);
  }
}

function cancelError({ compactRevision, cancelReason }: WatchResponse, position: Revision): Error {
  return compactRevision > 0
    ? new CompactedError(position, compactRevision)
    : new UnavailableError(`etcd ended the watch: ${cancelReason || 'no reason given'}`);
}

/** Keys whose lease ends are deleted in one revision. */
function byRevision(events: readonly EtcdEvent[]): Map<Revision, EtcdEvent[]> {
  const groups = new Map<Revision, EtcdEvent[]>();
  for (const event of events) {
    const group = groups.get(event.kv.modRevision);
    if (group) group.push(event);
    else groups.set(event.kv.modRevision, [event]);
  }
  return groups;
}

function toEvent(keyspace: Keyspace, event: EtcdEvent, options: BackendWatchOptions): BackendEvent {
  const { type, kv, prevKv } = event;
  const now = keyspace.toKeyValue(kv);
  const isNew = type === 0 && kv.createRevision === kv.modRevision;
  if (options.previous === false)
    return { type: type === 0 ? 'put' : 'delete', key: now.key, kv: now, previous: undefined };
  if (prevKv === null && !isNew) throw new CompactedError(kv.modRevision - 1, kv.modRevision);
  const previous = prevKv === null || isNew ? undefined : keyspace.toKeyValue(prevKv);
  if (type === 0) return { type: 'put', key: now.key, kv: now, previous };
  const last = { ...now, value: previous?.value ?? now.value, createRevision: previous?.createRevision ?? 0 };
  return { type: 'delete', key: now.key, kv: last, previous };
}
