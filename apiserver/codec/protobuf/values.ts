/** Scalars and Kubernetes' well-known messages as the values that JSON has for them. */
import { lastFields, readFields, WireError, type WireField } from '../../../openapi/protobuf-wire.js';

// Go's JSON keeps a byte order mark that begins a string.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function bytesOf({ type, value, number }: WireField): Uint8Array {
  if (type !== 'bytes') throw new WireError(`field ${number} has the wrong type`);
  return value;
}

export function integerOf({ type, value, number }: WireField): number {
  if (type !== 'varint') throw new WireError(`field ${number} has the wrong type`);
  return value;
}

export function textOf(field: WireField): string {
  try {
    return utf8.decode(bytesOf(field));
  } catch (error) {
    if (error instanceof TypeError) throw new WireError(`field ${field.number} is not UTF-8`);
    throw error;
  }
}

/** RFC 3339, with so many digits of a second. Undefined for Go's zero time, which means none. */
function timeOf(bytes: Uint8Array, digits: 0 | 6): string | undefined {
  const fields = lastFields(bytes);
  const [first, second] = [fields.get(1), fields.get(2)];
  if (first === undefined && second === undefined) return undefined;
  const seconds = first === undefined ? 0 : integerOf(first);
  const nanoseconds = second === undefined ? 0 : integerOf(second);
  const time = new Date(seconds * 1000);
  const year = time.getUTCFullYear();
  if (!(year >= 0 && year <= 9999 && nanoseconds >= 0 && nanoseconds < 1e9))
    throw new WireError('a time is out of range');
  const whole = time.toISOString().slice(0, 19);
  const micros = Math.floor(nanoseconds / 1000);
  return digits === 0 ? `${whole}Z` : `${whole}.${String(micros).padStart(digits, '0')}Z`;
}

function intOrStringOf(bytes: Uint8Array): number | string {
  const fields = lastFields(bytes);
  const [type, number, string] = [fields.get(1), fields.get(2), fields.get(3)];
  const isString = type !== undefined && integerOf(type) === 1;
  if (isString) return string === undefined ? '' : textOf(string);
  return number === undefined ? 0 : integerOf(number);
}

/** A message that wraps one piece of text: a quantity, raw JSON. */
function innerText(bytes: Uint8Array): string {
  const inner = lastFields(bytes).get(1);
  return inner === undefined ? '' : textOf(inner);
}

function jsonOf(bytes: Uint8Array): unknown {
  const text = innerText(bytes);
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new WireError('embedded JSON is malformed');
    throw error;
  }
}

function stringsOf(bytes: Uint8Array): string[] {
  const strings: string[] = [];
  for (const field of readFields(bytes)) if (field.number === 1) strings.push(textOf(field));
  return strings;
}

const readers: Readonly<Record<string, (field: WireField) => unknown>> = {
  string: textOf,
  int: integerOf,
  bool: (field) => integerOf(field) !== 0,
  bytes: (field) => Buffer.from(bytesOf(field)).toString('base64'),
  time: (field) => timeOf(bytesOf(field), 0),
  microTime: (field) => timeOf(bytesOf(field), 6),
  quantity: (field) => innerText(bytesOf(field)),
  intOrString: (field) => intOrStringOf(bytesOf(field)),
  json: (field) => jsonOf(bytesOf(field)),
  strings: (field) => stringsOf(bytesOf(field)),
};

/** Reads a value of the type; undefined if the type is a message. What it reads is undefined if it says that there is none. */
export function readerOf(type: string): ((field: WireField) => unknown) | undefined {
  return readers[type];
}
