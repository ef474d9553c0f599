/** Values that may not be there. */
import { equal, EvaluationError, isList, isMap, Opaque, type Value } from '../values.js';
import type { Library } from './function.js';

export class Optional extends Opaque {
  readonly type = 'optional_type';

  /** @param content undefined: nothing */
  constructor(readonly content: Value | undefined) {
    super();
  }

  override equals(other: Value): boolean {
    if (!(other instanceof Optional)) return false;
    if (this.content === undefined || other.content === undefined) return this.content === other.content;
    return equal(this.content, other.content);
  }

  override call(name: string, [other]: readonly Value[]): Value | undefined {
    switch (name) {
      case 'hasValue':
        return this.content !== undefined;
      case 'value':
        if (this.content === undefined) throw new EvaluationError('optional.none() dereference');
        return this.content;
      case 'orValue':
        return this.content ?? other;
      case 'or':
        return this.content === undefined ? other : this;
      default:
        return undefined;
    }
  }
}

/** Nothing, or the value. */
export function present(value: Value | undefined): Optional {
  return new Optional(value);
}

function isZero(value: Value): boolean {
  if (isList(value)) return value.length === 0;
  if (isMap(value)) return value.size === 0;
  if (value instanceof Opaque) return value.isZero?.() === true;
  return value === null || value === false || value === '' || value === 0n || value === 0;
}

export const optionals: Library = {
  'optional.none': (...values) => (values.length === 0 ? present(undefined) : undefined),
  'optional.of': (value) => (value === undefined ? undefined : present(value)),
  'optional.ofNonZeroValue': (value) =>
    value === undefined ? undefined : present(isZero(value) ? undefined : value),
};
