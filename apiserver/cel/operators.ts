/** Operators on numbers, texts, lists, and what the libraries bring. */
import { bounded } from './limits.js';
import { EvaluationError, isList, Opaque, Uint, type Value } from './values.js';

export function arithmetic(operator: string, a: Value, b: Value): Value {
  if (operator === '+') {
    if (typeof a === 'string' && typeof b === 'string') return bounded(a + b);
    if (isList(a) && isList(b)) return bounded([...a, ...b]);
  }
  if (typeof a === 'bigint' && typeof b === 'bigint') return inRange(integer(operator, a, b));
  if (a instanceof Uint && b instanceof Uint) return unsigned(integer(operator, a.value, b.value));
  if (typeof a === 'number' && typeof b === 'number' && operator !== '%') return double(operator, a, b);
  const result = a instanceof Opaque ? a.operate?.(operator, b) : undefined;
  if (result !== undefined) return result;
  throw new EvaluationError('no such overload');
}

function integer(operator: string, a: bigint, b: bigint): bigint {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    default:
      if (b === 0n) throw new EvaluationError(operator === '/' ? 'division by zero' : 'modulus by zero');
      return operator === '/' ? a / b : a % b;
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

export function inRange(value: bigint): bigint {
  if (BigInt.asIntN(64, value) === value) return value;
  throw new EvaluationError('integer overflow');
}

export function unsigned(value: bigint): Uint {
  if (BigInt.asUintN(64, value) === value) return new Uint(value);
  throw new EvaluationError('unsigned integer overflow');
}

export function negative(value: Value): Value {
  if (typeof value === 'bigint') return inRange(-value);
  if (typeof value === 'number') return -value;
  throw new EvaluationError('no such overload');
}
