/** What the literals of CEL stand for. */
import { CelError, type Token } from '../admission/plugin/cel/tokens.js';
import { Bytes } from './bytes.js';
import { Uint, type Value } from './values.js';

type Literal = Extract<Token, { kind: 'literal' }>;

/** Throws `CelError`. */
export function literalValue({ type, text, at }: Literal): Value {
  switch (type) {
    case 'null':
      return null;
    case 'bool':
      return text === 'true';
    case 'double':
      return Number(text);
    case 'int':
      return BigInt(text);
    case 'uint':
      return uintOf(BigInt(text.replace(/[uU]$/, '')), at);
    case 'string':
      return unescaped(text, codePoint).join('');
    case 'bytes':
      return new Bytes(Buffer.concat(unescaped(text, byte).map((part) => Buffer.from(part))));
  }
}

function uintOf(value: bigint, at: number): Uint {
  if (BigInt.asUintN(64, value) !== value) throw new CelError('invalid uint literal', at);
  return new Uint(value);
}

const named: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** @param coded what an escape of two hexadecimal or three octal digits stands for */
function unescaped<T>(text: string, coded: (code: number) => T): (string | T)[] {
  const [, prefix = '', quoted = ''] = /^([bBrR]*)([^]*)$/.exec(text) ?? [];
  const width = /^("""|''')/.test(quoted) ? 3 : 1;
  const inner = quoted.slice(width, -width);
  if (/r/i.test(prefix)) return [inner];
  const parts: (string | T)[] = [];
  for (const [all, x, u, long, octal, other] of inner.matchAll(
    /\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([^]))|[^\\]+/g,
  )) {
    const unicode = u ?? long;
    if (x !== undefined) parts.push(coded(Number.parseInt(x, 16)));
    else if (octal !== undefined) parts.push(coded(Number.parseInt(octal, 8)));
    else if (unicode !== undefined) parts.push(codePoint(Number.parseInt(unicode, 16)));
    else parts.push(other === undefined ? all : (named[other] ?? other));
  }
  return parts;
}

const codePoint = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd');
const byte = (code: number): Uint8Array => Uint8Array.of(code);
