/**
 * Kubernetes' protobuf, read only: clients of the core kinds send it (kubectl for one), though they take JSON for an answer. A
 * body is a magic number and an envelope that names the kind of the message in it.
 */
import { decodableKinds, messages } from './messages.js';
import { readFields, WireError, type WireField } from './wire.js';

export { WireError } from './wire.js';

export const protobufType = 'application/vnd.kubernetes.protobuf';

const magic = Buffer.from('k8s\0');

type Json = Record<string, unknown>;

interface FieldType {
  readonly name: string;
  /** A scalar, a well-known type or a message. */
  readonly type: string;
  readonly shape: 'one' | 'list' | 'map';
  /** Whether the zero of a scalar is a value. */
  readonly explicitZero: boolean;
}

function parseField(text: string): FieldType {
  const [name = '', written = ''] = text.split(' ');
  const explicitZero = written.endsWith('?');
  const bare = explicitZero ? written.slice(0, -1) : written;
  const shape = bare.startsWith('[') ? 'list' : bare.startsWith('{') ? 'map' : 'one';
  return { name, type: shape === 'one' ? bare : bare.slice(1, -1), shape, explicitZero };
}

/** Parsed once for each message that is met. */
const fieldTypes = new Map<string, ReadonlyMap<number, FieldType>>();

function fieldsOf(message: string): ReadonlyMap<number, FieldType> {
  let fields = fieldTypes.get(message);
  if (fields === undefined) {
    const written = Object.entries(messages[message] ?? {});
    fields = new Map(written.map(([number, text]) => [Number(number), parseField(text)]));
    fieldTypes.set(message, fields);
  }
  return fields;
}

const text = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new WireError('a string is not UTF-8');
  }
};

function bytesOf({ type, value, number }: WireField): Uint8Array {
  if (type !== 'bytes') throw new WireError(`field ${number} has the wrong type`);
  return value;
}

function integerOf({ type, value, number }: WireField): number {
  if (type !== 'varint') throw new WireError(`field ${number} has the wrong type`);
  return Number(BigInt.asIntN(64, value));
}

/** Numbers of a message that holds nothing else: a time, an int-or-string. */
function numbersOf(bytes: Uint8Array): ReadonlyMap<number, WireField> {
  return new Map([...readFields(bytes)].map((field) => [field.number, field]));
}

/** Undefined for Go's zero time, which means none. */
function timeOf(bytes: Uint8Array, digits: 0 | 6): string | undefined {
  const fields = numbersOf(bytes);
  const seconds = fields.get(1);
  const nanoseconds = fields.get(2);
  if (seconds === undefined && nanoseconds === undefined) return undefined;
  const milliseconds = (seconds === undefined ? 0 : integerOf(seconds)) * 1000;
  if (Math.abs(milliseconds) > 8.64e15) throw new WireError('a time is out of range');
  const whole = new Date(milliseconds).toISOString().slice(0, 19);
  if (digits === 0) return `${whole}Z`;
  const micros = Math.floor((nanoseconds === undefined ? 0 : integerOf(nanoseconds)) / 1000);
  return `${whole}.${String(micros).padStart(digits, '0')}Z`;
}

function intOrStringOf(bytes: Uint8Array): number | string {
  const fields = numbersOf(bytes);
  const [type, number, string] = [fields.get(1), fields.get(2), fields.get(3)];
  const isString = type !== undefined && integerOf(type) === 1;
  if (isString) return string === undefined ? '' : text(bytesOf(string));
  return number === undefined ? 0 : integerOf(number);
}

/** A message that wraps one piece of text: a quantity, raw JSON. */
function innerText(bytes: Uint8Array): string {
  const [inner] = readFields(bytes);
  return inner === undefined ? '' : text(bytesOf(inner));
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(innerText(bytes));
  } catch (error) {
    if (error instanceof SyntaxError) throw new WireError('embedded JSON is malformed');
    throw error;
  }
}

function valueOf(type: string, field: WireField): unknown {
  switch (type) {
    case 'string':
      return text(bytesOf(field));
    case 'bytes':
      return Buffer.from(bytesOf(field)).toString('base64');
    case 'int':
      return integerOf(field);
    case 'bool':
      return integerOf(field) !== 0;
    case 'time':
      return timeOf(bytesOf(field), 0);
    case 'microTime':
      return timeOf(bytesOf(field), 6);
    case 'quantity':
      return innerText(bytesOf(field));
    case 'intOrString':
      return intOrStringOf(bytesOf(field));
    case 'json':
      return jsonOf(bytesOf(field));
    case 'ExtraValue':
      return [...readFields(bytesOf(field))].map((item) => text(bytesOf(item)));
    default:
      return decodeMessage(type, bytesOf(field));
  }
}

function zeroOf(type: string): unknown {
  if (type === 'string' || type === 'bytes' || type === 'quantity') return '';
  return type === 'ExtraValue' ? [] : {};
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false || value === undefined;
}

function define(object: Json, key: string, value: unknown): void {
  // A key of a map may be `__proto__`.
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function addEntry(object: Json, { name, type }: FieldType, field: WireField): void {
  const entry = numbersOf(bytesOf(field));
  const [key, value] = [entry.get(1), entry.get(2)];
  const map = (object[name] ??= {}) as Json;
  define(
    map,
    key === undefined ? '' : text(bytesOf(key)),
    value === undefined ? zeroOf(type) : valueOf(type, value),
  );
}

function decodeMessage(message: string, bytes: Uint8Array): Json {
  const object: Json = {};
  const fields = fieldsOf(message);
  for (const field of readFields(bytes)) {
    const known = fields.get(field.number);
    if (known === undefined) continue;
    if (known.shape === 'map') {
      addEntry(object, known, field);
    } else if (known.shape === 'list') {
      const list = (object[known.name] ??= []) as unknown[];
      list.push(valueOf(known.type, field));
    } else {
      const value = valueOf(known.type, field);
      if (known.explicitZero || !isZero(value)) object[known.name] = value;
    }
  }
  return object;
}

/** The object in the body, or undefined if it is of a kind that is not read. Throws `WireError` if it is malformed. */
export function decodeProtobuf(body: Buffer): Json | undefined {
  if (!body.subarray(0, magic.length).equals(magic))
    throw new WireError('the body does not begin with k8s\\0');
  let apiVersion = '';
  let kind = '';
  let raw: Uint8Array = new Uint8Array();
  for (const field of readFields(body.subarray(magic.length))) {
    if (field.number === 1) {
      const names = numbersOf(bytesOf(field));
      const [first, second] = [names.get(1), names.get(2)];
      apiVersion = first === undefined ? '' : text(bytesOf(first));
      kind = second === undefined ? '' : text(bytesOf(second));
    } else if (field.number === 2) raw = bytesOf(field);
  }
  const kinds = Object.hasOwn(decodableKinds, apiVersion) ? decodableKinds[apiVersion] : undefined;
  if (kinds?.includes(kind) !== true) return undefined;
  return { kind, apiVersion, ...decodeMessage(kind, raw) };
}
