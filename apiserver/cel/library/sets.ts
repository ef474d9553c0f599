/** Lists as sets. */
import { equal, isList, type Value } from '../values.js';
import type { CelFunction, Library } from './function.js';

const holds = (list: readonly Value[], value: Value): boolean => list.some((each) => equal(each, value));
const containsAll = (list: readonly Value[], others: readonly Value[]): boolean =>
  others.every((each) => holds(list, each));

const onLists =
  (apply: (a: readonly Value[], b: readonly Value[]) => boolean): CelFunction =>
  (a, b) =>
    isList(a) && isList(b) ? apply(a, b) : undefined;

export const sets: Library = {
  'sets.contains': onLists(containsAll),
  'sets.equivalent': onLists((a, b) => containsAll(a, b) && containsAll(b, a)),
  'sets.intersects': onLists((a, b) => a.some((each) => holds(b, each))),
};
