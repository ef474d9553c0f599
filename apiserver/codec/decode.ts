/** From the body of a request, or the result of a patch, to an object of the kind that the path names. */
import { decode, DecodeError, isDecodable, type Decoded } from '../../openapi/json.js';
import type { ApiError } from '../errors/api-error.js';
import { badRequest, invalid } from '../errors/api-error.js';
import type { Endpoint } from '../registry/endpoint.js';
import { apiVersion } from '../registry/endpoint.js';
import type { Draft } from '../registry/metadata.js';
import { contentType, jsonType, unsupportedMediaType, yamlType } from './media-types.js';
import { MetadataError, readMetadata } from './metadata.js';
import { decodeProtobuf, protobufType, WireError } from './protobuf/decode.js';

type Json = Record<string, unknown>;

export interface DecodedObject {
  readonly draft: Draft;
  /** Paths of members that were given more than once; the last one won. */
  readonly duplicates: readonly string[];
  /** Paths of members that the schema does not know; they are gone. */
  readonly unknown: readonly string[];
}

export function isJsonObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function decodeCoreKind(body: Buffer): Decoded {
  try {
    const value = decodeProtobuf(body);
    if (value === undefined) throw unsupportedMediaType([jsonType, yamlType]);
    return { value, duplicates: [] };
  } catch (error) {
    if (error instanceof WireError) throw badRequest(`the body can not be decoded: ${error.message}`);
    throw error;
  }
}

/**
 * Decodes JSON, YAML, or the protobuf of core kinds. Throws 415 for other media types, 400 for what can not be read.
 */
export function decodeBody(body: Buffer, contentTypeHeader: string | undefined): Decoded {
  const type = contentType(contentTypeHeader);
  if (type === protobufType) return decodeCoreKind(body);
  if (!isDecodable(type)) throw unsupportedMediaType([jsonType, yamlType]);
  try {
    return decode(body, type);
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(`the body can not be decoded: ${error.message}`);
    throw error;
  }
}

/** Throws unless the value says that it is of this kind and version. */
function checkKind({ resource }: Endpoint, version: string, value: Json): void {
  const expected = apiVersion(resource.group, version);
  const { kind, apiVersion: given } = value;
  if (typeof kind !== 'string' || kind === '') {
    throw badRequest(`the object has no kind: it must be ${resource.kind}`);
  }
  if (typeof given !== 'string' || given === '') {
    throw badRequest(`the object has no apiVersion: it must be ${expected}`);
  }
  if (given !== expected) {
    throw badRequest(
      `the API version in the data (${given}) does not match the expected API version (${expected})`,
    );
  }
  if (kind !== resource.kind) {
    const metadata = isJsonObject(value['metadata']) ? value['metadata'] : {};
    const name = typeof metadata['name'] === 'string' ? metadata['name'] : '';
    throw invalid(resource.group, kind, name, [
      {
        reason: 'FieldValueInvalid',
        message: `Invalid value: ${JSON.stringify(kind)}: must be ${resource.kind}`,
        field: 'kind',
      },
    ]);
  }
}

/** `value` as an object of the kind: checked and pruned. It becomes the draft, and is changed. */
export function decodeObject(
  endpoint: Endpoint,
  version: string,
  { value, duplicates }: Decoded,
): DecodedObject {
  if (!isJsonObject(value)) throw badRequest('the body must be an object');
  checkKind(endpoint, version, value);
  const unknown: string[] = [];
  try {
    const draft = { ...value, metadata: readMetadata(value['metadata'], unknown) } as Draft;
    unknown.push(...endpoint.schema.prune(draft));
    return { draft, duplicates, unknown };
  } catch (error) {
    if (error instanceof MetadataError) throw badRequest(cannotHandle(endpoint, version, error.message));
    throw error;
  }
}

/** As kube-apiserver begins what it has to say of an object that does not fit its kind. */
export function cannotHandle({ resource: { kind } }: Endpoint, version: string, why: string): string {
  return `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${why}`;
}

/** Refuses, reports or ignores duplicate and unknown fields as `fieldValidation` says. */
export function applyFieldValidation(
  { duplicates, unknown }: Pick<DecodedObject, 'duplicates' | 'unknown'>,
  validation: 'Ignore' | 'Warn' | 'Strict',
  warn: (text: string) => void,
  refuse: (why: string) => ApiError,
): void {
  if (validation === 'Ignore') return;
  const faults = [
    ...duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`),
    ...unknown.map((path) => `unknown field ${JSON.stringify(path)}`),
  ];
  if (faults.length === 0) return;
  if (validation === 'Strict') throw refuse(`strict decoding error: ${faults.join(', ')}`);
  for (const fault of faults) warn(fault);
}
