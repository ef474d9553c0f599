/** Operators on numbers, texts and lists, and the functions of CEL that take no expression. */
import { EvaluationError, isList, isMap, typeName, type Value } from './values.js';

/** Texts and lists that an expression makes are no longer than this. */
const maximumSize = 1024 * 1024;

export function arithmetic(operator: string, a: Value, b: Value): Value {
  if (operator === '+') {
    if (typeof a === 'string' && typeof b === 'string') return bounded(a + b);
    if (isList(a) && isList(b)) return bounded([...a, ...b]);
  }
  if (typeof a === 'bigint' && typeof b === 'bigint') return integer(operator, a, b);
  if (typeof a === 'number' && typeof b === 'number' && operator !== '%') return double(operator, a, b);
  throw new EvaluationError(`no such overload: ${typeName(a)} ${operator} ${typeName(b)}`);
}

function integer(operator: string, a: bigint, b: bigint): bigint {
  switch (operator) {
    case '+':
      return inRange(a + b);
    case '-':
      return inRange(a - b);
    case '*':
      return inRange(a * b);
    default:
      if (b === 0n) throw new EvaluationError('division by zero');
      return inRange(operator === '/' ? a / b : a % b);
  }
}

function double(operator: string, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    default:
      return a / b;
  }
}

function inRange(value: bigint): bigint {
  if (BigInt.asIntN(64, value) === value) return value;
  throw new EvaluationError('an integer is beyond 64 bits');
}

function bounded<T extends string | readonly Value[]>(value: T): T {
  if (value.length <= maximumSize) return value;
  throw new EvaluationError(`a text or list is longer than ${maximumSize}`);
}

export function negative(value: Value): Value {
  if (typeof value === 'bigint') return inRange(-value);
  if (typeof value === 'number') return -value;
  throw new EvaluationError(`no such overload: -${typeName(value)}`);
}

/** Called freely or on the first argument. Undefined: not for these types. */
type CelFunction = (...values: readonly Value[]) => Value | undefined;

const onTexts =
  (apply: (text: string, other: string) => Value): CelFunction =>
  (text, other) =>
    typeof text === 'string' && typeof other === 'string' ? apply(text, other) : undefined;

const onText =
  (apply: (text: string) => Value): CelFunction =>
  (text, ...rest) =>
    typeof text === 'string' && rest.length === 0 ? apply(text) : undefined;

/** `matches` is not among them: JavaScript's regular expressions may take for ever where CEL's may not. */
const functions: Readonly<Record<string, CelFunction>> = {
  contains: onTexts((text, other) => text.includes(other)),
  startsWith: onTexts((text, other) => text.startsWith(other)),
  endsWith: onTexts((text, other) => text.endsWith(other)),
  split: onTexts((text, separator) => text.split(separator)),
  lowerAscii: onText((text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())),
  upperAscii: onText((text) => text.replace(/[a-z]+/g, (letters) => letters.toUpperCase())),
  trim: onText((text) => text.trim()),
  dyn: (value) => value,
  size(value) {
    if (typeof value === 'string') return BigInt(Array.from(value).length);
    if (isList(value)) return BigInt(value.length);
    return isMap(value) ? BigInt(value.size) : undefined;
  },
  int(value) {
    if (typeof value === 'bigint') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return inRange(BigInt(Math.trunc(value)));
    return typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? inRange(BigInt(value)) : undefined;
  },
  double(value) {
    if (typeof value === 'bigint' || typeof value === 'number') return Number(value);
    return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
  },
  string(value) {
    if (typeof value === 'string') return value;
    return typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : undefined;
  },
};

export const functionNames: readonly string[] = Object.keys(functions);

export function callFunction(name: string, values: readonly Value[]): Value {
  const result = Object.hasOwn(functions, name) ? functions[name]?.(...values) : undefined;
  if (result !== undefined) return result;
  throw new EvaluationError(`no such overload: ${name}(${values.map(typeName).join(', ')})`);
}
