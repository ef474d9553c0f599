/** Bytes of a request to a value: JSON or YAML, with what a decoder of Kubernetes must also find. */
import { DecodeError, maximumDepth, maximumDuplicates, maximumYamlBytes, type Decoded } from './decoded.js';
import { decodeYamlText } from './yaml.js';

export { DecodeError, type Decoded } from './decoded.js';

const jsonTypes = new Set([
  'application/json',
  'application/merge-patch+json',
  'application/json-patch+json',
]);
const yamlTypes = new Set([
  'application/yaml',
  'application/x-yaml',
  'text/yaml',
  'application/apply-patch+yaml',
]);

/** `application/json; charset=utf-8` → `application/json`. */
export function bareMediaType(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

export function isDecodable(contentType: string): boolean {
  const type = bareMediaType(contentType);
  return jsonTypes.has(type) || yamlTypes.has(type);
}

/** Decodes as `contentType` says: one for which `isDecodable` holds. Throws `DecodeError`. */
export function decode(bytes: Uint8Array, contentType: string): Decoded {
  return yamlTypes.has(bareMediaType(contentType)) ? decodeYaml(bytes) : decodeJson(bytes);
}

/** Throws `DecodeError`. */
export function decodeJson(bytes: Uint8Array): Decoded {
  const { members } = measure(bytes);
  const parsed = parseJson(textOf(bytes));
  if (parsed instanceof DecodeError) throw parsed;
  return finishJson(bytes, parsed.value, members);
}

/** JSON is YAML, and what clients send as YAML mostly is JSON: that is tried first. Throws `DecodeError`. */
export function decodeYaml(bytes: Uint8Array): Decoded {
  const { members } = measure(bytes);
  const text = textOf(bytes);
  const parsed = parseJson(text);
  if (!(parsed instanceof DecodeError)) return finishJson(bytes, parsed.value, members);
  if (text.trim() === '') throw parsed;
  if (bytes.length > maximumYamlBytes)
    throw new DecodeError(`YAML of more than ${maximumYamlBytes} bytes is not accepted: send JSON`);
  const decoded = decodeYamlText(text);
  checkValue(decoded.value, 0);
  return decoded;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function parseJson(text: string): { readonly value: unknown } | DecodeError {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return new DecodeError(error.message.charAt(0).toLowerCase() + error.message.slice(1));
  }
}

function finishJson(bytes: Uint8Array, value: unknown, members: number): Decoded {
  // JSON.parse keeps one member of each name: if as many came out as went in, there are no duplicates.
  const distinct = checkValue(value, 0);
  return { value, duplicates: distinct === members ? [] : findDuplicates(textOf(bytes)) };
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Counts the members of JSON in one pass, before the parser sees it: nesting without end costs it a second. */
function measure(bytes: Uint8Array): { members: number } {
  let members = 0;
  let level = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case quote:
        for (at++; bytes[at] !== quote && at < bytes.length; at++) if (bytes[at] === backslash) at++;
        break;
      case colon:
        members++;
        break;
      case openBrace:
      case openBracket:
        level++;
        if (level > maximumDepth)
          throw new DecodeError(`the document is nested deeper than ${maximumDepth} levels`);
        break;
      case closeBrace:
      case closeBracket:
        level--;
        break;
      default:
    }
  }
  return { members };
}

/** Refuses what JSON text can say but the API cannot keep. Returns the number of members of all objects. */
function checkValue(value: unknown, level: number): number {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new DecodeError('a number is beyond the range of a 64-bit float');
    return 0;
  }
  if (level > maximumDepth)
    throw new DecodeError(`the document is nested deeper than ${maximumDepth} levels`);
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) members += checkValue(item, level + 1);
    return members;
  }
  // Decoded objects have no enumerable members but their own; `for in` is several times faster than `Object.entries`.
  const object = value as Readonly<Record<string, unknown>>;
  for (const key in object) {
    if (key === '__proto__') throw new DecodeError('a member may not be named __proto__');
    members += 1 + checkValue(object[key], level + 1);
  }
  return members;
}

interface Frame {
  /** Keys seen, for an object; undefined for a list. */
  readonly keys: Set<string> | undefined;
  readonly path: string;
  index: number;
  key: string;
}

/** Paths of repeated members in valid JSON. Runs only when there are some. */
function findDuplicates(text: string): string[] {
  const found = new Set<string>();
  const stack: Frame[] = [];
  let string = '';
  for (let at = 0; at < text.length && found.size < maximumDuplicates; at++) {
    const frame = stack.at(-1);
    switch (text[at]) {
      case '{':
        stack.push({ keys: new Set(), path: childPath(frame), index: 0, key: '' });
        break;
      case '[':
        stack.push({ keys: undefined, path: childPath(frame), index: 0, key: '' });
        break;
      case '}':
      case ']':
        stack.pop();
        break;
      case ',':
        if (frame !== undefined) frame.index++;
        break;
      case '"': {
        const end = endOfString(text, at);
        string = text.slice(at, end + 1);
        at = end;
        break;
      }
      case ':':
        if (frame?.keys === undefined) break;
        frame.key = JSON.parse(string) as string;
        if (frame.keys.has(frame.key)) found.add(childPath(frame));
        frame.keys.add(frame.key);
        break;
      default:
    }
  }
  return [...found];
}

/** Where the string that opens at `start` closes. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function childPath(frame: Frame | undefined): string {
  if (frame === undefined) return '';
  const { keys, path, index, key } = frame;
  if (keys === undefined) return `${path}[${index}]`;
  return path === '' ? key : `${path}.${key}`;
}
