/** Lists, as Kubernetes' library has them. */
import { bounded, maximumSize } from '../limits.js';
import { arithmetic } from '../operators.js';
import { compare, equal, EvaluationError, isList, typeName, type Value } from '../values.js';
import type { CelFunction, Library } from './function.js';
import { present } from './optional.js';

const onList =
  (apply: (list: readonly Value[]) => Value): CelFunction =>
  (list, ...rest) =>
    isList(list) && rest.length === 0 ? apply(list) : undefined;

/** The first of several that none comes before, by the sign of the comparison. */
const extreme = (name: string, sign: 1 | -1): CelFunction =>
  onList((list) => {
    const [first, ...rest] = list;
    if (first === undefined) throw new EvaluationError(`${name} called on empty list`);
    return rest.reduce((best, each) => (compare(each, best) * sign > 0 ? each : best), first);
  });

function flatten(list: readonly Value[], depth: bigint): readonly Value[] {
  return bounded(list.flatMap((each) => (isList(each) && depth > 0n ? flatten(each, depth - 1n) : [each])));
}

function slice(list: readonly Value[], start: bigint, end: bigint): readonly Value[] {
  const refused = (why: string): EvaluationError =>
    new EvaluationError(`cannot slice(${start}, ${end}), ${why}`);
  if (start < 0n || end < 0n) throw refused('negative indexes not supported');
  if (start > end) throw refused('start index must be less than or equal to end index');
  if (end > list.length) throw refused(`list is length ${list.length}`);
  return list.slice(Number(start), Number(end));
}

function range(count: bigint): readonly Value[] {
  const length = Math.max(0, Number(count));
  if (length > maximumSize) throw new EvaluationError(`lists.range(${count}) is longer than ${maximumSize}`);
  return Array.from({ length }, (_, index) => BigInt(index));
}

export const lists: Library = {
  isSorted: onList((list) =>
    list.every((each, index) => index === 0 || compare(list[index - 1] ?? null, each) <= 0),
  ),
  sum: onList((list) => {
    const [first, ...rest] = list;
    return rest.reduce((sum, each) => arithmetic('+', sum, each), first ?? 0n);
  }),
  min: extreme('min', -1),
  max: extreme('max', 1),
  indexOf: (list, value) =>
    isList(list) && value !== undefined ? BigInt(list.findIndex((each) => equal(each, value))) : undefined,
  lastIndexOf: (list, value) =>
    isList(list) && value !== undefined
      ? BigInt(list.findLastIndex((each) => equal(each, value)))
      : undefined,
  slice: (list, start, end) =>
    isList(list) && typeof start === 'bigint' && typeof end === 'bigint'
      ? slice(list, start, end)
      : undefined,
  first: onList((list) => present(list[0])),
  last: onList((list) => present(list.at(-1))),
  'lists.range': (count, ...rest) =>
    typeof count === 'bigint' && rest.length === 0 ? range(count) : undefined,
  flatten(list, depth = 1n) {
    if (!isList(list) || typeof depth !== 'bigint') return undefined;
    if (depth < 0n) throw new EvaluationError('level must be non-negative');
    return flatten(list, depth);
  },
  reverse: onList((list) => [...list].reverse()),
  sort: onList((list) => {
    if (new Set(list.map(typeName)).size > 1)
      throw new EvaluationError('list elements must have the same type');
    return [...list].sort(compare);
  }),
  distinct: onList((list) =>
    list.filter((each, index) => list.findIndex((other) => equal(other, each)) === index),
  ),
};
