/**
 * The form in which objects are stored and shared: their JSON without its head. The head names the kind, the version and
 * the revision, which are only known when the object is served:
 *
 *     {"kind":"VirtualMachine","apiVersion":"kubevirt.io/v1","metadata":{"resourceVersion":"7",   ← head, per answer
 *     "name":"a","namespace":"b","uid":"…", … }⇥,"spec":{…},"status":{…}}                          ← stored bytes, shared
 *
 * `metadata` comes first, and a tab follows its closing brace. `JSON.stringify` writes no tab anywhere else, so that one
 * `indexOf` finds where the metadata ends, and clients see only insignificant white space. In the same way a carriage return stands before
 * and behind each `fieldsV1`, which many objects have in common.
 */
import type { KubernetesObject, ManagedFieldsEntry, ObjectMeta } from '../../openapi/meta.js';
import type { Attributes, Revision } from '../../storage/interface.js';
import { omit } from './omit.js';
import { sharedFields, type FieldsV1 } from './shared-fields.js';

const metadataEnd = '\t'.charCodeAt(0);
const fieldsMark = '\r';

/** What can be served without parsing. A stored `Entry` is one; the answer to a dry run has no revision. */
export interface Serialized {
  readonly bytes: Buffer;
  readonly revision: Revision | undefined;
  readonly attributes: Attributes;
}

/** Kind and version under which an object is served. */
export interface ServedAs {
  readonly kind: string;
  readonly apiVersion: string;
}

/** The stored form of `object`; its kind, apiVersion and resourceVersion are left out. */
export function encodeStored(object: KubernetesObject): Buffer {
  const body = JSON.stringify(omit(object, 'apiVersion', 'kind', 'metadata'));
  const tail = body === '{}' ? '}' : `,${body.slice(1)}`;
  return Buffer.from(`${metadataText(object.metadata)}\t${tail}`);
}

/** Without the brace that opens it. */
function metadataText(metadata: ObjectMeta): string {
  const { managedFields = [] } = metadata;
  const text = JSON.stringify(omit(metadata, 'resourceVersion', 'managedFields'));
  if (managedFields.length === 0) return text.slice(1);
  return `${text.slice(1, -1)},"managedFields":[${managedFields.map(managedFieldsText).join(',')}]}`;
}

function managedFieldsText(entry: ManagedFieldsEntry): string {
  if (!hasFields(entry)) return JSON.stringify(entry);
  const { fieldsV1, ...others } = entry;
  const fields = `"fieldsV1":${fieldsMark}${sharedFields.stringify(fieldsV1)}${fieldsMark}}`;
  const start = JSON.stringify(others).slice(0, -1);
  return start === '{' ? `${start}${fields}` : `${start},${fields}`;
}

/** What is taken over from another server may lack them, or have none for them. */
function hasFields<T extends { readonly fieldsV1?: unknown }>(
  entry: T,
): entry is T & { readonly fieldsV1: FieldsV1 } {
  return typeof entry.fieldsV1 === 'object' && entry.fieldsV1 !== null;
}

/** What stands in front of stored bytes when they are served. */
export function head(as: ServedAs, revision: Revision | undefined): string {
  const version = revision === undefined ? '' : `"resourceVersion":"${revision}",`;
  return `{"kind":"${as.kind}","apiVersion":"${as.apiVersion}","metadata":{${version}`;
}

/** The object that the bytes stand for. Every call makes a new one, so the caller may change it; only `fieldsV1` is shared. */
export function decodeStored(bytes: Buffer, as: ServedAs, revision: Revision | undefined): KubernetesObject {
  const [start = '', ...rest] = bytes.toString().split(fieldsMark);
  const fields: string[] = [];
  let text = head(as, revision) + start;
  for (let at = 0; at < rest.length; at += 2) {
    fields.push(rest[at] ?? '{}');
    text += `{}${rest[at + 1] ?? ''}`;
  }
  const object = JSON.parse(text) as KubernetesObject;
  const marked = object.metadata.managedFields?.filter(hasFields) ?? [];
  for (const [index, entry] of marked.entries()) {
    const own = fields[index];
    if (own !== undefined) entry.fieldsV1 = sharedFields.parse(own);
  }
  return object;
}

/** The part of the stored bytes that belongs to `metadata`, without the brace that closes it. */
export function metadataSlice(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.indexOf(metadataEnd) - 1);
}

/** `prefix`, the object, `suffix` in one buffer. */
export function compose(prefix: string, bytes: Buffer, suffix: string): Buffer {
  const start = Buffer.byteLength(prefix);
  const chunk = Buffer.allocUnsafe(start + bytes.length + Buffer.byteLength(suffix));
  chunk.write(prefix, 0);
  bytes.copy(chunk, start);
  chunk.write(suffix, start + bytes.length);
  return chunk;
}
