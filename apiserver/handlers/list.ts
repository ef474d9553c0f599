import { CompactedError } from '../../storage/errors.js';
import type { Entry, ObjectListOptions, ObjectListResult, ObjectStore } from '../../storage/interface.js';
import type { Representation } from '../codec/media-types.js';
import { head, metadataSlice } from '../codec/stored-bytes.js';
import { ApiError, badRequest } from '../errors/api-error.js';
import { apiVersion, servedAs } from '../registry/endpoint.js';
import { resourcePrefix } from '../registry/keys.js';
import { forbiddenValue } from '../registry/metadata-rules.js';
import type { Reply } from '../request.js';
import { columnDefinitions, row, tableStart } from '../table/table.js';
import { decodeContinue, encodeContinue, inconsistent, type ContinueToken } from './continue-token.js';
import { flag, integer, invalidOptions, notSupported } from './options.js';
import type { ResourceHandler, ResourceRequest } from './request.js';
import { documentReply, metaApiVersion, representationOf, rowStyle } from './respond.js';
import { readRevision } from './revision.js';
import { readSelection } from './selection.js';

type At = ObjectListOptions['at'];
type RevisionMatch = 'Exact' | 'NotOlderThan' | undefined;

export function readRevisionMatch(query: URLSearchParams): RevisionMatch {
  const match = query.get('resourceVersionMatch') ?? '';
  if (match === '') return undefined;
  if (match === 'Exact' || match === 'NotOlderThan') return match;
  throw invalidOptions('ListOptions', [
    notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']),
  ]);
}

function refuse(what: string): never {
  throw invalidOptions('ListOptions', [forbiddenValue('resourceVersionMatch', what)]);
}

/** Which state a first page shows. */
function stateOf(query: URLSearchParams, limit: number | undefined): At {
  const revision = readRevision(query);
  const match = readRevisionMatch(query);
  if (flag(query, 'sendInitialEvents') !== undefined) {
    throw invalidOptions('ListOptions', [
      forbiddenValue('sendInitialEvents', 'sendInitialEvents is forbidden for list'),
    ]);
  }
  if (revision === undefined) {
    if (match !== undefined) refuse('resourceVersionMatch is forbidden unless resourceVersion is provided');
    return { kind: 'newest' };
  }
  if (revision === 0) {
    if (match === 'Exact') refuse('resourceVersionMatch "Exact" is forbidden for resourceVersion "0"');
    return { kind: 'any' };
  }
  // Without a match, a limit has always meant the exact state.
  const exact = match === 'Exact' || (match === undefined && limit !== undefined);
  return { kind: exact ? 'exact' : 'notOlderThan', revision };
}

/** A further page, of the snapshot that its token names. */
async function stateOfToken(query: URLSearchParams, token: ContinueToken, store: ObjectStore): Promise<At> {
  if ((query.get('resourceVersion') ?? '0') !== '0' && query.get('resourceVersion') !== '') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  if (readRevisionMatch(query) !== undefined) refuse('resourceVersionMatch is forbidden for continue');
  if (token.revision !== inconsistent) return { kind: 'exact', revision: token.revision };
  const { revision } = await store.list({ at: { kind: 'newest' }, limit: 1 });
  return { kind: 'exact', revision };
}

function readLimit(query: URLSearchParams): number | undefined {
  const limit = integer(query, 'limit');
  if (limit !== undefined && limit < 0) throw badRequest(`limit must not be negative, but is ${limit}`);
  // A list of whatever state is at hand is whole, as kube-apiserver's is: it comes from memory.
  const whole = query.get('resourceVersion') === '0' && (query.get('continue') ?? '') === '';
  return limit === 0 || whole ? undefined : limit;
}

/** The snapshot of the pages is gone. The client may begin anew, or go on with the token in the answer if it can bear gaps. */
function expiredContinue(token: ContinueToken, prefix: string): ApiError {
  return new ApiError(
    'Expired',
    'The continue parameter is too old: the list that it belongs to can not be completed. Start again without it, or, if objects that changed in the meantime may be missing or doubled, go on with the continue parameter of this answer.',
    undefined,
    { continueToken: encodeContinue({ revision: inconsistent, after: token.after }, prefix) },
  );
}

/** Reads the page that the query asks for. Throws ApiError or StorageError. */
export async function readPage(request: ResourceRequest): Promise<ObjectListResult> {
  const { context, endpoint } = request;
  const { store, resource } = endpoint;
  const prefix = resourcePrefix(resource);
  const { matches, name, namespace } = readSelection(request);
  const limit = readLimit(context.query);
  // Means nothing to a list, but must be a number.
  integer(context.query, 'timeoutSeconds');
  const continued = context.query.get('continue') ?? '';
  const options = {
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(matches === undefined ? {} : { matches }),
    ...(limit === undefined ? {} : { limit }),
  };
  if (continued === '') return store.list({ ...options, at: stateOf(context.query, limit) });
  const token = decodeContinue(continued, prefix);
  try {
    const at = await stateOfToken(context.query, token, store);
    return await store.list({ ...options, at, after: token.after });
  } catch (error) {
    if (error instanceof CompactedError) throw expiredContinue(token, prefix);
    throw error;
  }
}

function listMeta({ revision, next, remaining }: ObjectListResult, prefix: string): string {
  const token = next === undefined ? '' : encodeContinue({ revision, after: next }, prefix);
  return JSON.stringify({
    resourceVersion: String(revision),
    continue: token,
    ...(next === undefined || remaining === undefined ? {} : { remainingItemCount: remaining }),
  });
}

/** `start`, the items with commas between them, `]}`. */
function join<T>(
  start: string,
  items: readonly T[],
  write: (item: T, chunks: Buffer[], before: string) => string,
): Buffer[] {
  const chunks: Buffer[] = [];
  let pending = start;
  for (const item of items) pending = `${write(item, chunks, pending)},`;
  const end = items.length === 0 ? pending : pending.slice(0, -1);
  chunks.push(Buffer.from(`${end}]}\n`));
  return chunks;
}

function objectsChunks(
  start: string,
  as: { kind: string; apiVersion: string },
  entries: readonly Entry[],
): Buffer[] {
  return join(start, entries, (entry, chunks, before) => {
    chunks.push(Buffer.from(before + head(as, entry.revision), 'latin1'), entry.bytes);
    return '';
  });
}

function metadataChunks(start: string, metaVersion: string, entries: readonly Entry[]): Buffer[] {
  const as = { kind: 'PartialObjectMetadata', apiVersion: metaVersion };
  return join(start, entries, (entry, chunks, before) => {
    chunks.push(Buffer.from(before + head(as, entry.revision), 'latin1'), metadataSlice(entry.bytes));
    return '}}';
  });
}

/** A list of these entries, in the representation that the client asked for. */
export function listReply(
  request: ResourceRequest,
  representation: Representation,
  result: ObjectListResult,
  now: number,
): Reply {
  const { resource } = request.endpoint;
  const meta = listMeta(result, resourcePrefix(resource));
  const start = (kind: string, version: string): string =>
    `{"kind":"${kind}","apiVersion":"${version}","metadata":${meta},"items":[`;
  switch (representation.as) {
    case 'object': {
      const version = apiVersion(resource.group, request.version);
      const chunks = objectsChunks(
        start(resource.listKind, version),
        servedAs(resource, request.version),
        result.entries,
      );
      return documentReply(representation, 200, chunks);
    }
    case 'metadata': {
      const version = metaApiVersion(representation);
      const chunks = metadataChunks(start('PartialObjectMetadataList', version), version, result.entries);
      return documentReply(representation, 200, chunks);
    }
    case 'table': {
      const style = rowStyle(request, representation, now);
      const tableHead = tableStart(style.metaVersion, meta, columnDefinitions(resource));
      const chunks = join(tableHead, result.entries, (entry, parts, before) => {
        const { prefix, bytes, suffix } = row(style, entry);
        if (bytes === undefined) return before + prefix + suffix;
        parts.push(Buffer.from(before + prefix), bytes);
        return suffix;
      });
      return documentReply(representation, 200, chunks);
    }
  }
}

export const list: ResourceHandler = async (serving, request) => {
  const representation = representationOf(request, 'list');
  return listReply(request, representation, await readPage(request), serving.now());
};
