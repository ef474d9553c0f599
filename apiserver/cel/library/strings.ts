/** Texts. Positions count characters, not bytes. */
import { bounded } from '../limits.js';
import { EvaluationError, isList, isMap, Opaque, type Value } from '../values.js';
import { onText, onTexts, type Library } from './function.js';

const characters = (text: string): string[] => Array.from(text);

/** Throws `EvaluationError` if the position is beyond the text. */
function position(value: Value | undefined, text: readonly string[]): number {
  if (typeof value !== 'bigint' || value < 0n || value > text.length)
    throw new EvaluationError(`index out of range: ${typeof value === 'bigint' ? value : 'no number'}`);
  return Number(value);
}

function indexOf(text: string, part: string, from: number): bigint {
  const found = characters(text).slice(from).join('').indexOf(part);
  if (found < 0) return -1n;
  return BigInt(from + characters(characters(text).slice(from).join('').slice(0, found)).length);
}

function lastIndexOf(text: string, part: string, from: number): bigint {
  const before = characters(text).slice(0, from).join('').length;
  const found = text.lastIndexOf(part, before);
  return found < 0 ? -1n : BigInt(characters(text.slice(0, found)).length);
}

function replace(text: string, part: string, by: string, limit: bigint): string {
  if (limit < 0n) return bounded(text.split(part).join(by));
  const pieces = text.split(part);
  const count = Number(limit);
  if (pieces.length - 1 <= count) return bounded(pieces.join(by));
  return bounded([...pieces.slice(0, count), pieces.slice(count).join(part)].join(by));
}

function split(text: string, separator: string, limit: bigint): readonly string[] {
  const pieces = separator === '' ? characters(text) : text.split(separator);
  if (limit < 0n || BigInt(pieces.length) <= limit) return pieces;
  if (limit === 0n) return [];
  const count = Number(limit) - 1;
  return [...pieces.slice(0, count), pieces.slice(count).join(separator)];
}

const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** How a value stands in a formatted text. */
function shown(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return value;
  if (isList(value)) return `[${value.map(shown).join(', ')}]`;
  if (isMap(value)) {
    const members = [...value].map(([key, member]) => `${shown(key)}: ${shown(member)}`);
    return `{${members.sort().join(', ')}}`;
  }
  if (value instanceof Opaque) return shown(value.call?.('string', []) ?? value.type);
  return String(value);
}

/** One clause of a format: its letter, the digits behind the point, and what it shows. */
function clause(letter: string, precision: string | undefined, value: Value): string {
  const digits = precision === undefined ? 6 : Number(precision);
  const numeric = typeof value === 'number' || typeof value === 'bigint';
  if (letter === 's') return shown(value);
  if (letter === 'd' && typeof value === 'bigint') return value.toString();
  if (letter === 'f' && numeric) return Number(value).toFixed(Math.min(digits, 100));
  if (letter === 'e' && numeric)
    return Number(value)
      .toExponential(Math.min(digits, 100))
      .replace(/e([+-])(\d)$/, 'e$10$2');
  if (letter === 'b' && typeof value === 'boolean') return value ? '1' : '0';
  const bases: Readonly<Record<string, number>> = { b: 2, o: 8, x: 16, X: 16 };
  const base = bases[letter];
  if (base !== undefined && typeof value === 'bigint') {
    const text = value.toString(base);
    return letter === 'X' ? text.toUpperCase() : text;
  }
  if ((letter === 'x' || letter === 'X') && typeof value === 'string') {
    const text = Buffer.from(value).toString('hex');
    return letter === 'X' ? text.toUpperCase() : text;
  }
  throw new EvaluationError(`error during formatting: %${letter} does not take ${shown(value)}`);
}

function format(text: string, values: readonly Value[]): string {
  let next = 0;
  return bounded(
    text.replace(/%(?:\.(\d{1,3}))?([^])/g, (_all, precision: string | undefined, letter: string) => {
      if (letter === '%') return '%';
      const value = values[next++];
      if (value === undefined)
        throw new EvaluationError(`error during formatting: index ${next - 1} out of range`);
      return clause(letter, precision, value);
    }),
  );
}

export const strings: Library = {
  contains: onTexts((text, other) => text.includes(other)),
  startsWith: onTexts((text, other) => text.startsWith(other)),
  endsWith: onTexts((text, other) => text.endsWith(other)),
  lowerAscii: onText((text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())),
  upperAscii: onText((text) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase())),
  trim: onText((text) => text.trim()),
  reverse: onText((text) => characters(text).reverse().join('')),
  'strings.quote': onText((text) => `"${Array.from(text, (each) => escapes[each] ?? each).join('')}"`),
  charAt: (text, at) =>
    typeof text === 'string' ? (characters(text)[position(at, characters(text))] ?? '') : undefined,
  indexOf: (text, part, from = 0n) =>
    typeof text === 'string' && typeof part === 'string'
      ? indexOf(text, part, position(from, characters(text)))
      : undefined,
  lastIndexOf: (text, part, from) =>
    typeof text === 'string' && typeof part === 'string'
      ? lastIndexOf(text, part, from === undefined ? text.length : position(from, characters(text)))
      : undefined,
  substring(text, start, end) {
    if (typeof text !== 'string') return undefined;
    const all = characters(text);
    const [from, to] = [position(start, all), end === undefined ? all.length : position(end, all)];
    if (from > to) throw new EvaluationError(`invalid substring range. start: ${from}, end: ${to}`);
    return all.slice(from, to).join('');
  },
  replace: (text, part, by, limit = -1n) =>
    typeof text === 'string' &&
    typeof part === 'string' &&
    typeof by === 'string' &&
    typeof limit === 'bigint'
      ? replace(text, part, by, limit)
      : undefined,
  split: (text, separator, limit = -1n) =>
    typeof text === 'string' && typeof separator === 'string' && typeof limit === 'bigint'
      ? split(text, separator, limit)
      : undefined,
  join(list, separator = '') {
    if (!isList(list) || typeof separator !== 'string') return undefined;
    return list.every((each) => typeof each === 'string') ? bounded(list.join(separator)) : undefined;
  },
  format: (text, values) => (typeof text === 'string' && isList(values) ? format(text, values) : undefined),
};
