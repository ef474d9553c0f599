/** Lists, as Kubernetes' library has them. */
import { bounded } from '../limits.js';
import { arithmetic } from '../operators.js';
import { compare, equal, EvaluationError, isList, type Value } from '../values.js';
import type { CelFunction, Library } from './function.js';

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
      ? list.slice(Number(start), Number(end))
      : undefined,
  flatten: (list, depth = 1n) =>
    isList(list) && typeof depth === 'bigint' ? flatten(list, depth) : undefined,
  reverse: onList((list) => [...list].reverse()),
  sort: onList((list) => [...list].sort(compare)),
  distinct: onList((list) =>
    list.filter((each, index) => list.findIndex((other) => equal(other, each)) === index),
  ),
};
