/**
 * Which representation of an answer a client gets: JSON or YAML, of the object itself, of its metadata only, or as a
 * Table (kubectl get).
 */
import { ApiError } from '../errors/api-error.js';

export interface Representation {
  readonly format: 'json' | 'yaml';
  readonly as: 'object' | 'table' | 'metadata';
  /** Version of meta.k8s.io for `table` and `metadata`. */
  readonly metaVersion: 'v1' | 'v1beta1';
  /** Indented JSON. */
  readonly pretty: boolean;
}

/** What the answer will hold. Metadata of a list is asked for by another kind than that of an object. */
export type Shape = 'object' | 'list' | 'watch';

interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

export const jsonType = 'application/json';
export const yamlType = 'application/yaml';

const plain: Representation = { format: 'json', as: 'object', metaVersion: 'v1', pretty: false };

function parseRange(text: string): MediaRange {
  const [type = '', ...rest] = text.split(';');
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const [key = '', value = ''] = parameter.split('=', 2);
    parameters.set(key.trim().toLowerCase(), value.trim());
  }
  const quality = Number(parameters.get('q') ?? '1');
  return { type: type.trim().toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 1 };
}

function formatOf(type: string): 'json' | 'yaml' | undefined {
  switch (type) {
    case jsonType:
    case '*/*':
    case 'application/*':
      return 'json';
    case yamlType:
      return 'yaml';
    default:
      return undefined;
  }
}

/** What a media range's `as`, `g` and `v` ask for; `undefined` if that can not be had for this shape. */
function viewOf(
  parameters: ReadonlyMap<string, string>,
  shape: Shape,
): Pick<Representation, 'as' | 'metaVersion'> | undefined {
  const as = parameters.get('as');
  if (as === undefined) return { as: 'object', metaVersion: 'v1' };
  const version = parameters.get('v');
  if (parameters.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined;
  if (as === 'Table') return { as: 'table', metaVersion: version };
  const metadataKind = shape === 'list' ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  return as === metadataKind ? { as: 'metadata', metaVersion: version } : undefined;
}

function notAcceptable(): ApiError {
  return new ApiError(
    'NotAcceptable',
    `only the following media types are accepted: ${jsonType}, ${yamlType}`,
  );
}

function choose(accept: string, shape: Shape): Representation | undefined {
  const ranges = accept.split(',').map(parseRange);
  ranges.sort((a, b) => b.quality - a.quality);
  for (const { type, parameters, quality } of ranges) {
    const format = formatOf(type);
    // A watch is a stream of JSON lines, for which YAML has no counterpart.
    if (format === undefined || quality <= 0 || (shape === 'watch' && format === 'yaml')) continue;
    const view = viewOf(parameters, shape);
    if (view !== undefined) return { format, ...view, pretty: parameters.get('pretty') === '1' };
  }
  return undefined;
}

/** The representation for an `Accept` header; none means JSON. Throws 406 if nothing that it lists can be served. */
export function negotiate(accept: string | undefined, shape: Shape): Representation {
  if (accept === undefined || accept === '' || accept === jsonType || accept === '*/*') return plain;
  const representation = choose(accept, shape);
  if (representation === undefined) throw notAcceptable();
  return representation;
}

/** The media type of a body, without its parameters, lower-cased; JSON if none is named. */
export function contentType(header: string | undefined): string {
  const type = header?.split(';', 1)[0]?.trim().toLowerCase();
  return type === undefined || type === '' ? jsonType : type;
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  return new ApiError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
}
