/** `"%s is %d".format([…])`, and texts as Go quotes them. */
import { Bytes } from '../bytes.js';
import { bounded } from '../limits.js';
import { EvaluationError, isList, isMap, numberOf, Opaque, TypeValue, typeName, Uint } from '../values.js';
import type { Value } from '../values.js';
import { decimal } from './number-text.js';
import { textOf } from './standard.js';
import { Duration, Timestamp } from './time.js';

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

/** Between double quotes; what is not printable is escaped, too. */
function quoted(text: string): string {
  const inner = text.replace(/[\\"]|[\p{C}\p{Z}]/gu, (each) => {
    const known = escapes[each];
    if (known !== undefined || each === ' ') return known ?? each;
    const code = each.codePointAt(0) ?? 0;
    if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
    return code <= 0xffff
      ? `\\u${code.toString(16).padStart(4, '0')}`
      : `\\U${code.toString(16).padStart(8, '0')}`;
  });
  return `"${inner}"`;
}

/** Only with what is an escape sequence of CEL. */
export function quotedForCel(text: string): string {
  return `"${Array.from(text, (each) => escapes[each] ?? each).join('')}"`;
}

/** How a value stands in a text by itself. */
function shown(value: Value): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return decimal(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof Uint) return value.value.toString();
  if (value instanceof Bytes) return textOf(value);
  if (value instanceof TypeValue) return value.name;
  if (value instanceof Duration) return value.json();
  if (value instanceof Timestamp) return value.text();
  if (isList(value)) return `[${value.map(literal).join(', ')}]`;
  if (isMap(value)) {
    const members = [...value].map(([key, member]) => [literal(key), literal(member)] as const);
    members.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([key, member]) => `${key}:${member}`).join(', ')}}`;
  }
  throw refused(
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    value,
  );
}

/** How a value stands in a list or map: as CEL would read it. */
function literal(value: Value): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value.toFixed(6) : quoted(decimal(value));
  if (value instanceof Bytes) return `b${quoted(textOf(value))}`;
  if (value instanceof Timestamp) return `timestamp(${quoted(value.text())})`;
  if (value instanceof Duration) return `duration(${quoted(value.json())})`;
  if (value instanceof Opaque && !(value instanceof Uint) && !(value instanceof TypeValue))
    throw new EvaluationError(`error during formatting: no formatting function for ${typeName(value)}`);
  return shown(value);
}

function refused(why: string, value: Value): EvaluationError {
  return new EvaluationError(`error during formatting: ${why}, was given ${typeName(value)}`);
}

type Clause = (value: Value, digits: number) => string;

function wholeOf(value: Value): bigint | undefined {
  const number = numberOf(value);
  return typeof number === 'bigint' ? number : undefined;
}

const usualDigits = 6;
/** JavaScript shows no more. */
const mostDigits = 100;
const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** However many digits are asked for, as kube-apiserver. */
function scientific(value: number): string {
  const [mantissa = '', exponent = ''] = value.toExponential(usualDigits).split('e');
  const power = exponent.slice(1).padStart(2, '0');
  const raised = power.replace(/\d/g, (digit) => superscripts.charAt(Number(digit)));
  return `${mantissa}×10${exponent.startsWith('-') ? '⁻' : ''}${raised}`;
}

function fixed(value: number, digits: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '-∞';
  const [whole = '', fraction] = value.toFixed(digits).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const inBase =
  (base: number, otherwise: (value: Value) => string): Clause =>
  (value) =>
    wholeOf(value)?.toString(base) ?? otherwise(value);

function hexadecimal(value: Value): string {
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (value instanceof Bytes) return value.data.toString('hex');
  throw refused('only integers, byte buffers, and strings can be formatted as hex', value);
}

const clauses: Readonly<Record<string, Clause>> = {
  s: shown,
  d: inBase(10, (value) => {
    throw refused('decimal clause can only be used on integers', value);
  }),
  f(value, digits) {
    if (typeof value === 'number') return fixed(value, digits);
    throw refused('fixed-point clause can only be used on doubles', value);
  },
  e(value) {
    if (typeof value === 'number') return scientific(value);
    throw refused('scientific clause can only be used on doubles', value);
  },
  b: inBase(2, (value) => {
    if (typeof value === 'boolean') return value ? '1' : '0';
    throw refused('only integers and bools can be formatted as binary', value);
  }),
  o: inBase(8, (value) => {
    throw refused('octal clause can only be used on integers', value);
  }),
  x: inBase(16, hexadecimal),
  X: (value, digits) => (clauses['x'] ?? shown)(value, digits).toUpperCase(),
};

/** Throws `EvaluationError`. */
export function format(text: string, values: readonly Value[]): string {
  let next = 0;
  return bounded(
    text.replace(/%(?:\.(\d{1,3}))?([^])/g, (_all, precision: string | undefined, letter: string) => {
      if (letter === '%' && precision === undefined) return '%';
      const value = values[next++];
      if (value === undefined) throw new EvaluationError(`index ${next - 1} out of range`);
      const clause = Object.hasOwn(clauses, letter) ? clauses[letter] : undefined;
      if (clause === undefined)
        throw new EvaluationError(
          `could not parse formatting clause: unrecognized formatting clause ${JSON.stringify(letter)}`,
        );
      return clause(value, Math.min(Number(precision ?? usualDigits), mostDigits));
    }),
  );
}
