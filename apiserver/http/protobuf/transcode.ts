/**
 * Bodies in Kubernetes' protobuf envelope, as Go clients send them for built-in kinds (kubectl since 1.35), into JSON. Answers
 * are always JSON, which every such client takes too.
 */
import { badRequest } from '../../errors/api-error.js';
import { messageOf, messages } from './messages.js';
import { ProtobufError, readFields, type WireValue } from './wire.js';

export const protobufType = 'application/vnd.kubernetes.protobuf';

const magic = Buffer.from('k8s\0', 'latin1');

interface Field {
  readonly name: string;
  /** Without list and map. */
  readonly type: string;
  readonly shape: 'single' | 'list' | 'map';
  readonly keepsZero: boolean;
}

type Layout = ReadonlyMap<number, Field>;

const layouts = new Map<string, Layout>();
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * @returns the body in JSON; undefined for a kind whose fields are not known here
 * @throws ApiError BadRequest for bytes that are no such envelope
 */
export function protobufToJson(body: Buffer): Buffer | undefined {
  try {
    if (!body.subarray(0, magic.length).equals(magic)) {
      throw new ProtobufError('the envelope of Kubernetes is missing');
    }
    const envelope = readFields(body.subarray(magic.length));
    const { apiVersion, kind } = typeMeta(bytesOf(envelope.find(({ number }) => number === 1)?.value));
    const message = messageOf(apiVersion, kind);
    if (message === undefined) return undefined;
    const raw = bytesOf(envelope.find(({ number }) => number === 2)?.value);
    return Buffer.from(JSON.stringify({ kind, apiVersion, ...decode(message, raw) }));
  } catch (error) {
    if (!(error instanceof ProtobufError) && !(error instanceof TypeError)) throw error;
    throw badRequest(`the body is not valid protobuf: ${error.message}`);
  }
}

function typeMeta(bytes: Buffer): { apiVersion: string; kind: string } {
  const texts = new Map(readFields(bytes).map(({ number, value }) => [number, text(bytesOf(value))]));
  return { apiVersion: texts.get(1) ?? '', kind: texts.get(2) ?? '' };
}

function layoutOf(message: string): Layout {
  let layout = layouts.get(message);
  if (layout === undefined) {
    layout = new Map((messages[message] ?? '').split(', ').map(parseField));
    layouts.set(message, layout);
  }
  return layout;
}

function parseField(definition: string): [number, Field] {
  const [number = '', name = '', written = ''] = definition.split(' ');
  const map = /^map<(\w+)>$/.exec(written)?.[1];
  const shape = map !== undefined ? 'map' : written.endsWith('[]') ? 'list' : 'single';
  const type = map ?? written.replace(/\[\]$|!$/, '');
  return [Number(number), { name, type, shape, keepsZero: written.endsWith('!') }];
}

function decode(message: string, bytes: Buffer): Record<string, unknown> {
  const layout = layoutOf(message);
  const members = new Map<string, unknown>();
  const maps = new Map<string, [string, unknown][]>();
  for (const { number, value } of readFields(bytes)) {
    const field = layout.get(number);
    if (field === undefined) continue;
    if (field.shape === 'map') {
      const entries = maps.get(field.name) ?? [];
      entries.push(mapEntry(field.type, bytesOf(value)));
      maps.set(field.name, entries);
    } else if (field.shape === 'list') {
      const list = members.get(field.name);
      const item = scalar(field.type, value) ?? '';
      if (Array.isArray(list)) list.push(item);
      else members.set(field.name, [item]);
    } else {
      const single = scalar(field.type, value);
      const isZero = single === '' || single === 0 || single === false;
      if (single !== undefined && (!isZero || field.keepsZero)) members.set(field.name, single);
    }
  }
  // fromEntries defines members as they are named, also one called __proto__.
  return Object.fromEntries([
    ...members,
    ...[...maps].map(([name, entries]): [string, unknown] => [name, Object.fromEntries(entries)]),
  ]);
}

function mapEntry(type: string, bytes: Buffer): [string, unknown] {
  const fields = readFields(bytes);
  const key = fields.find(({ number }) => number === 1)?.value;
  const value = fields.find(({ number }) => number === 2)?.value ?? { kind: 'bytes', value: Buffer.alloc(0) };
  return [key === undefined ? '' : text(bytesOf(key)), scalar(type, value) ?? ''];
}

/** `undefined` for a time that is not set. */
function scalar(type: string, value: WireValue): unknown {
  switch (type) {
    case 'int':
      return integer(value);
    case 'bool':
      return integer(value) !== 0;
    case 'string':
      return text(bytesOf(value));
    case 'bytes':
      return bytesOf(value).toString('base64');
    case 'quantity':
      return text(bytesOf(readFields(bytesOf(value)).find(({ number }) => number === 1)?.value));
    case 'intOrString':
      return intOrString(bytesOf(value));
    case 'time':
    case 'microTime':
      return time(bytesOf(value), type);
    case 'ExtraValue':
      return decode(type, bytesOf(value))['items'] ?? [];
    default:
      return decode(type, bytesOf(value));
  }
}

function bytesOf(value: WireValue | undefined): Buffer {
  if (value === undefined) return Buffer.alloc(0);
  if (value.kind !== 'bytes') throw new ProtobufError('a number stands where text or a message is expected');
  return value.value;
}

function integer(value: WireValue): number {
  if (value.kind !== 'varint') throw new ProtobufError('text stands where a number is expected');
  return Number(BigInt.asIntN(64, value.value));
}

function text(bytes: Buffer): string {
  return utf8.decode(bytes);
}

/** Type 0 is a number, type 1 text. */
function intOrString(bytes: Buffer): number | string {
  const fields = new Map(readFields(bytes).map(({ number, value }) => [number, value]));
  const type = fields.get(1);
  if (type === undefined || integer(type) === 0) {
    const number = fields.get(2);
    return number === undefined ? 0 : integer(number);
  }
  return text(bytesOf(fields.get(3)));
}

function time(bytes: Buffer, type: 'time' | 'microTime'): string | undefined {
  if (bytes.length === 0) return undefined;
  const fields = new Map(readFields(bytes).map(({ number, value }) => [number, integer(value)]));
  const date = new Date((fields.get(1) ?? 0) * 1000);
  if (Number.isNaN(date.getTime())) throw new ProtobufError('a time is out of range');
  const seconds = date.toISOString().slice(0, 19);
  if (type === 'time') return `${seconds}Z`;
  return `${seconds}.${String(Math.floor((fields.get(2) ?? 0) / 1000)).padStart(6, '0')}Z`;
}
