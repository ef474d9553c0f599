/** Texts. Positions count characters, not bytes. */
import { bounded } from '../limits.js';
import { EvaluationError, isList, type Value } from '../values.js';
import { onText, onTexts, type Library } from './function.js';
import { format, quotedForCel } from './string-format.js';

const characters = (text: string): string[] => Array.from(text);

/** White space, as Go has it. */
const space = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+';
const around = new RegExp(`^${space}|${space}$`, 'g');

/** Throws `EvaluationError` if the position is beyond the text. */
function position(value: Value | undefined, text: readonly string[]): number {
  if (typeof value !== 'bigint' || value < 0n || value > text.length)
    throw new EvaluationError(`index out of range: ${typeof value === 'bigint' ? value : 'no number'}`);
  return Number(value);
}

/** Where a search begins, which may be beyond the text. */
function start(from: Value): number {
  if (typeof from !== 'bigint') throw new EvaluationError('no such overload');
  if (from < 0n) throw new EvaluationError(`index out of range: ${from}`);
  return Number(from);
}

function indexOf(text: string, part: string, from: number): bigint {
  if (part === '') return BigInt(from);
  if (from > text.length) return -1n;
  const found = characters(text).slice(from).join('').indexOf(part);
  if (found < 0) return -1n;
  return BigInt(from + characters(characters(text).slice(from).join('').slice(0, found)).length);
}

function lastIndexOf(text: string, part: string, from: number): bigint {
  if (part === '') return BigInt(from);
  if (from > text.length) return -1n;
  const before = characters(text).slice(0, from).join('').length;
  const found = text.lastIndexOf(part, before);
  return found < 0 ? -1n : BigInt(characters(text.slice(0, found)).length);
}

function replace(text: string, part: string, by: string, limit: bigint): string {
  // Nothing is before, between and behind all characters.
  const pieces = part === '' ? ['', ...characters(text), ''] : text.split(part);
  if (limit < 0n) return bounded(pieces.join(by));
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

export const strings: Library = {
  contains: onTexts((text, other) => text.includes(other)),
  startsWith: onTexts((text, other) => text.startsWith(other)),
  endsWith: onTexts((text, other) => text.endsWith(other)),
  lowerAscii: onText((text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())),
  upperAscii: onText((text) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase())),
  trim: onText((text) => text.replace(around, '')),
  reverse: onText((text) => characters(text).reverse().join('')),
  'strings.quote': onText(quotedForCel),
  charAt: (text, at) =>
    typeof text === 'string' ? (characters(text)[position(at, characters(text))] ?? '') : undefined,
  indexOf: (text, part, from = 0n) =>
    typeof text === 'string' && typeof part === 'string' ? indexOf(text, part, start(from)) : undefined,
  lastIndexOf: (text, part, from) =>
    typeof text === 'string' && typeof part === 'string'
      ? lastIndexOf(text, part, from === undefined ? characters(text).length : start(from))
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
