/** Objects as answers, in the representation that the client asked for. */
import { stringify } from 'yaml';
import type { StatusDetails } from '../../openapi/meta.js';
import { jsonType, negotiate, yamlType, type Representation, type Shape } from '../codec/media-types.js';
import { compose, head, metadataSlice, type Serialized } from '../codec/stored-bytes.js';
import { badRequest } from '../errors/api-error.js';
import { servedAs } from '../registry/endpoint.js';
import type { Reply } from '../request.js';
import { columnDefinitions, row, tableStart, type RowObject, type RowStyle } from '../table/table.js';
import { flag } from './options.js';
import type { ResourceRequest } from './request.js';

export function representationOf({ context }: ResourceRequest, shape: Shape): Representation {
  const representation = negotiate(context.headers['accept'], shape);
  const pretty = flag(context.query, 'pretty') ?? representation.pretty;
  return pretty === representation.pretty ? representation : { ...representation, pretty };
}

/** JSON in chunks, turned into YAML or indented if that was asked for. */
export function documentReply(
  { format, pretty }: Representation,
  status: number,
  chunks: readonly Buffer[],
): Reply {
  if (format === 'json' && !pretty) return { kind: 'bytes', status, contentType: jsonType, chunks };
  const value: unknown = JSON.parse(Buffer.concat(chunks).toString());
  const text =
    format === 'yaml'
      ? stringify(value, { aliasDuplicateObjects: false, lineWidth: 0, version: '1.1' })
      : `${JSON.stringify(value, undefined, 2)}\n`;
  const contentType = format === 'yaml' ? yamlType : jsonType;
  return { kind: 'bytes', status, contentType, chunks: [Buffer.from(text)] };
}

export function readIncludeObject({ context }: ResourceRequest): RowObject {
  const value = context.query.get('includeObject') ?? '';
  if (value === '') return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw badRequest(
    `unrecognized includeObject value: ${JSON.stringify(value)}; use None, Metadata or Object`,
  );
}

export const metaApiVersion = ({ metaVersion }: Representation): string => `meta.k8s.io/${metaVersion}`;

export function rowStyle(request: ResourceRequest, representation: Representation, now: number): RowStyle {
  return {
    resource: request.endpoint.resource,
    as: servedAs(request.endpoint.resource, request.version),
    metaVersion: metaApiVersion(representation),
    include: readIncludeObject(request),
    now,
  };
}

const newline = Buffer.from('\n');

/** One object as JSON: itself, its metadata, or a Table of one row. */
function objectChunks(
  request: ResourceRequest,
  representation: Representation,
  object: Serialized,
  now: number,
): readonly Buffer[] {
  const { resource } = request.endpoint;
  switch (representation.as) {
    case 'object':
      return [Buffer.from(head(servedAs(resource, request.version), object.revision)), object.bytes, newline];
    case 'metadata': {
      const as = { kind: 'PartialObjectMetadata', apiVersion: metaApiVersion(representation) };
      return [compose(head(as, object.revision), metadataSlice(object.bytes), '}}\n')];
    }
    case 'table': {
      const style = rowStyle(request, representation, now);
      const { prefix, bytes = Buffer.alloc(0), suffix } = row(style, object);
      const listMeta = object.revision === undefined ? '{}' : `{"resourceVersion":"${object.revision}"}`;
      const start = tableStart(style.metaVersion, listMeta, columnDefinitions(resource));
      return [compose(start + prefix, bytes, `${suffix}]}\n`)];
    }
  }
}

export function objectReply(
  request: ResourceRequest,
  representation: Representation,
  status: number,
  object: Serialized,
  now: number,
): Reply {
  return documentReply(representation, status, objectChunks(request, representation, object, now));
}

/** A Status that says that it is done, in JSON or YAML. */
export function successReply(representation: Representation, status: number, details: StatusDetails): Reply {
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
  return documentReply(representation, status, [Buffer.from(`${JSON.stringify(body)}\n`)]);
}
