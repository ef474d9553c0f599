/** From whatever a client sent as `metadata` to ObjectMeta: types checked, unknown fields dropped and reported. */
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from '../../openapi/meta.js';

/** A value of the wrong type; the message names the field and what it should hold. */
export class MetadataError extends Error {
  override readonly name = 'MetadataError';
}

type Json = Readonly<Record<string, unknown>>;
type Reader<T> = (value: unknown, path: string) => T;

function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `a value of type ${typeof value}`;
}

function expected(what: string, value: unknown, path: string): MetadataError {
  return new MetadataError(`${path} must be ${what}, not ${describe(value)}`);
}

const text: Reader<string> = (value, path) => {
  if (typeof value !== 'string') throw expected('a string', value, path);
  return value;
};

const integer: Reader<number> = (value, path) => {
  if (!Number.isSafeInteger(value)) throw expected('an integer', value, path);
  return value as number;
};

const flag: Reader<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw expected('true or false', value, path);
  return value;
};

const record: Reader<Json> = (value, path) => {
  if (!isRecord(value)) throw expected('an object', value, path);
  return value;
};

const time: Reader<string> = (value, path) => {
  const written = text(value, path);
  if (
    !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(written) ||
    Number.isNaN(Date.parse(written))
  ) {
    throw new MetadataError(`${path} must be a time as in RFC 3339, such as 2026-01-02T03:04:05Z`);
  }
  return written;
};

const textMap: Reader<Record<string, string>> = (value, path) =>
  Object.fromEntries(
    Object.entries(record(value, path)).map(([key, item]) => [
      key,
      item === null ? '' : text(item, `${path}.${key}`),
    ]),
  );

function listOf<T>(item: Reader<T>): Reader<T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw expected('a list', value, path);
    return value.map((element: unknown, i) => item(element, `${path}[${i}]`));
  };
}

const ownerReference: Reader<OwnerReference> = (value, path) => {
  const owner = record(value, path);
  const read = (key: string): string => text(owner[key] ?? '', `${path}.${key}`);
  const optional = (key: string): boolean | undefined =>
    owner[key] === undefined || owner[key] === null ? undefined : flag(owner[key], `${path}.${key}`);
  const controller = optional('controller');
  const blockOwnerDeletion = optional('blockOwnerDeletion');
  return {
    apiVersion: read('apiVersion'),
    kind: read('kind'),
    name: read('name'),
    uid: read('uid'),
    ...(controller === undefined ? {} : { controller }),
    ...(blockOwnerDeletion === undefined ? {} : { blockOwnerDeletion }),
  };
};

const managedFieldsEntry: Reader<ManagedFieldsEntry> = (value, path) => {
  const entry = record(value, path);
  const read = (key: string): string => text(entry[key] ?? '', `${path}.${key}`);
  const operation = read('operation');
  if (operation !== 'Apply' && operation !== 'Update') {
    throw new MetadataError(`${path}.operation must be Apply or Update, not "${operation}"`);
  }
  return {
    manager: read('manager'),
    operation,
    apiVersion: read('apiVersion'),
    ...(entry['time'] === undefined || entry['time'] === null
      ? {}
      : { time: time(entry['time'], `${path}.time`) }),
    fieldsType: 'FieldsV1',
    fieldsV1: { ...record(entry['fieldsV1'] ?? {}, `${path}.fieldsV1`) },
    ...(entry['subresource'] === undefined || entry['subresource'] === ''
      ? {}
      : { subresource: read('subresource') }),
  };
};

/** An empty entry in the list is how clients say that the list should be emptied. */
const managedFields: Reader<ManagedFieldsEntry[]> = (value, path) =>
  listOf(record)(value, path)
    .filter((entry) => Object.keys(entry).length > 0)
    .map((entry, i) => managedFieldsEntry(entry, `${path}[${i}]`));

/** In the order in which they are stored. */
const readers: { readonly [Key in keyof ObjectMeta]-?: Reader<NonNullable<ObjectMeta[Key]>> } = {
  name: text,
  generateName: text,
  namespace: text,
  uid: text,
  resourceVersion: text,
  generation: integer,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: integer,
  labels: textMap,
  annotations: textMap,
  ownerReferences: listOf(ownerReference),
  finalizers: listOf(text),
  managedFields,
};

const keys = Object.keys(readers) as readonly (keyof ObjectMeta)[];
/** Known to Kubernetes, but of no meaning any more. */
const retired = new Set(['selfLink']);

/** Throws `MetadataError`. `unknown` gets the paths of fields that were dropped. */
export function readMetadata(value: unknown, unknown: string[]): Partial<ObjectMeta> {
  const sent = record(value ?? {}, 'metadata');
  const metadata: Record<string, unknown> = {};
  for (const key of keys) {
    const field = Object.hasOwn(sent, key) ? sent[key] : undefined;
    if (field !== undefined && field !== null) metadata[key] = readers[key](field, `metadata.${key}`);
  }
  for (const key of Object.keys(sent)) {
    if (!Object.hasOwn(readers, key) && !retired.has(key)) unknown.push(`metadata.${key}`);
  }
  return metadata;
}
