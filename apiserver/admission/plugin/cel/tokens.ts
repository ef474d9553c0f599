/** The words of CEL, the Common Expression Language. */

export type Token =
  | { readonly kind: 'identifier'; readonly text: string; readonly at: number }
  | { readonly kind: 'literal'; readonly type: LiteralType; readonly text: string; readonly at: number }
  /** Operators and brackets; the end is the empty one. */
  | { readonly kind: 'symbol'; readonly text: string; readonly at: number };

export type LiteralType = 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'null';

/** What is wrong with an expression; `at` counts characters from 0. */
export class CelError extends Error {
  override readonly name = 'CelError';
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }
}

/** By the grammar of CEL; longer alternatives first. */
const patterns = {
  space: /(?:[\t\n\f\r ]|\/\/[^\n]*)+/y,
  rawText: /([bB]?)[rR]([bB]?)(?:"""[^]*?"""|'''[^]*?'''|"[^"\r\n]*"|'[^'\r\n]*')/y,
  text: /([bB]?)(?:"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''|"(?:\\.|[^"\\\r\n])*"|'(?:\\.|[^'\\\r\n])*')/y,
  double: /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y,
  integer: /(?:0x[0-9a-fA-F]+|\d+)([uU]?)/y,
  identifier: /[_a-zA-Z][_a-zA-Z0-9]*/y,
  symbol: /&&|\|\||[<>=!]=|[-+*/%<>!?:.,()[\]{}]/y,
} as const;

const escape = /\\(?:[abfnrtv\\?"'`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/g;

/** Words that CEL keeps for languages that it is embedded in. */
const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** Ends with the empty symbol. Throws `CelError`. */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (name: keyof typeof patterns): RegExpExecArray | null => {
    const pattern = patterns[name];
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  while (at < text.length) {
    const space = match('space');
    if (space !== null) {
      at += space[0].length;
      continue;
    }
    const token =
      literal(match, at) ??
      word(match('identifier')?.[0], at, namesField(tokens.at(-1)?.text, text.slice(at))) ??
      symbol(match('symbol')?.[0], at);
    if (token === undefined)
      throw new CelError(`${JSON.stringify(text.charAt(at))} begins no word of CEL`, at);
    tokens.push(token);
    at += token.text.length;
  }
  tokens.push({ kind: 'symbol', text: '', at });
  return tokens;
}

function literal(
  match: (name: keyof typeof patterns) => RegExpExecArray | null,
  at: number,
): Token | undefined {
  const raw = match('rawText');
  if (raw !== null) return { kind: 'literal', type: raw[1] || raw[2] ? 'bytes' : 'string', text: raw[0], at };
  const text = match('text');
  if (text !== null) {
    const stray = text[0].replace(escape, '  ').indexOf('\\');
    if (stray >= 0) throw new CelError('no escape sequence of CEL begins so', at + stray);
    return { kind: 'literal', type: text[1] ? 'bytes' : 'string', text: text[0], at };
  }
  const double = match('double');
  if (double !== null) return { kind: 'literal', type: 'double', text: double[0], at };
  const integer = match('integer');
  if (integer !== null) return { kind: 'literal', type: integer[1] ? 'uint' : 'int', text: integer[0], at };
  return undefined;
}

/** Behind a dot, and before the colon of a message's literal. */
function namesField(before: string | undefined, rest: string): boolean {
  return before === '.' || ((before === '{' || before === ',') && /^\w+\s*:/.test(rest));
}

/** Names of fields may be words that are kept elsewhere. */
function word(text: string | undefined, at: number, isField: boolean): Token | undefined {
  if (text === undefined) return undefined;
  if (text === 'true' || text === 'false') return { kind: 'literal', type: 'bool', text, at };
  if (text === 'null') return { kind: 'literal', type: 'null', text, at };
  if (text === 'in') return { kind: 'symbol', text, at };
  if (!isField && reserved.has(text)) throw new CelError(`${JSON.stringify(text)} is a reserved word`, at);
  return { kind: 'identifier', text, at };
}

function symbol(text: string | undefined, at: number): Token | undefined {
  return text === undefined ? undefined : { kind: 'symbol', text, at };
}
