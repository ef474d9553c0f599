/**
 * Kubernetes' protobuf, read only: clients of the core kinds send it (kubectl for one), though they take JSON for an answer. A
 * body is a magic number and an envelope that names the kind of the message in it.
 */
import { fieldsOf, messageOf, type FieldType } from './messages.js';
import { bytesOf, readerOf, textOf } from './values.js';
import {
  lastFields,
  readFields,
  readPacked,
  WireError,
  type WireField,
} from '../../../openapi/protobuf-wire.js';

export { WireError } from '../../../openapi/protobuf-wire.js';

export const protobufType = 'application/vnd.kubernetes.protobuf';

const magic = Buffer.from('k8s\0');

type Json = Record<string, unknown>;

function valueOf(type: string, field: WireField): unknown {
  const read = readerOf(type);
  return read === undefined ? decodeMessage(type, bytesOf(field)) : read(field);
}

/** Of a map's entry that has no value field. */
function zeroOf(type: string): unknown {
  if (type === 'string' || type === 'bytes' || type === 'quantity') return '';
  if (type === 'strings') return [];
  return readerOf(type) === undefined ? {} : null;
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}

function addEntry(object: Json, { name, type }: FieldType, field: WireField): void {
  const entry = lastFields(bytesOf(field));
  const [key, value] = [entry.get(1), entry.get(2)];
  const map = (object[name] ??= {}) as Json;
  // Not an assignment: a key may be `__proto__`.
  Object.defineProperty(map, key === undefined ? '' : textOf(key), {
    value: value === undefined ? zeroOf(type) : valueOf(type, value),
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

function addItems(object: Json, { name, type }: FieldType, field: WireField): void {
  const list = (object[name] ??= []) as unknown[];
  if (type !== 'int' || field.type === 'varint') list.push(valueOf(type, field));
  else for (const value of readPacked(field.value)) list.push(value);
}

function addField(object: Json, known: FieldType, field: WireField): void {
  switch (known.shape) {
    case 'map':
      addEntry(object, known, field);
      break;
    case 'list':
      addItems(object, known, field);
      break;
    case 'inline':
      Object.assign(object, decodeMessage(known.type, bytesOf(field)));
      break;
    case 'one': {
      const value = valueOf(known.type, field);
      if (value !== undefined && (known.explicitZero || !isZero(value))) object[known.name] = value;
    }
  }
}

function decodeMessage(message: string, bytes: Uint8Array): Json {
  const object: Json = {};
  const fields = fieldsOf(message);
  for (const field of readFields(bytes)) {
    const known = fields.get(field.number);
    // What is not known is of a newer version of the kind.
    if (known !== undefined) addField(object, known, field);
  }
  return object;
}

interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
}

function openEnvelope(body: Buffer): Envelope {
  if (!body.subarray(0, magic.length).equals(magic))
    throw new WireError('the body does not begin with k8s\\0');
  const fields = lastFields(body.subarray(magic.length));
  const [type, raw, encoding] = [fields.get(1), fields.get(2), fields.get(3)];
  if (encoding !== undefined && textOf(encoding) !== '')
    throw new WireError(`the message is encoded as ${textOf(encoding)}: send it as it is`);
  const names = type === undefined ? undefined : lastFields(bytesOf(type));
  const [apiVersion, kind] = [names?.get(1), names?.get(2)];
  return {
    apiVersion: apiVersion === undefined ? '' : textOf(apiVersion),
    kind: kind === undefined ? '' : textOf(kind),
    raw: raw === undefined ? new Uint8Array() : bytesOf(raw),
  };
}

/** The object in the body, or undefined if it is of a kind that is not read. Throws `WireError` if it is malformed. */
export function decodeProtobuf(body: Buffer): Json | undefined {
  const { apiVersion, kind, raw } = openEnvelope(body);
  const message = messageOf(apiVersion, kind);
  return message === undefined ? undefined : { kind, apiVersion, ...decodeMessage(message, raw) };
}
