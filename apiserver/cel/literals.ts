/** What the literals of CEL stand for. */
import { CelError, type Token } from '../admission/plugin/cel/tokens.js';
import type { Value } from './values.js';

type Literal = Extract<Token, { kind: 'literal' }>;

/** Throws `CelError` for bytes, which documents of JSON have none of. */
export function literalValue({ type, text, at }: Literal): Value {
  switch (type) {
    case 'null':
      return null;
    case 'bool':
      return text === 'true';
    case 'double':
      return Number(text);
    case 'int':
    case 'uint':
      return BigInt(text.replace(/[uU]$/, ''));
    case 'string':
      return stringOf(text);
    case 'bytes':
      throw new CelError('bytes are not supported', at);
  }
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

function stringOf(text: string): string {
  const raw = /^[rR]/.test(text);
  const quoted = raw ? text.slice(1) : text;
  const width = /^("""|''')/.test(quoted) ? 3 : 1;
  const inner = quoted.slice(width, -width);
  if (raw) return inner;
  return inner.replace(
    /\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([^]))/g,
    (_all, ...groups: (string | undefined)[]) => {
      const [x, u, long, octal, other = ''] = groups;
      const hex = x ?? u ?? long;
      if (hex !== undefined) return codePoint(Number.parseInt(hex, 16));
      if (octal !== undefined) return codePoint(Number.parseInt(octal, 8));
      return named[other] ?? other;
    },
  );
}

const codePoint = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd');
