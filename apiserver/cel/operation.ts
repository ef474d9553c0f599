/** An operator between two values, which costs what it takes to look at them. */
import { weight } from './limits.js';
import { spend, step, type Evaluate } from './scope.js';
import { numberOf, type Value } from './values.js';

export function operation(first: Evaluate, second: Evaluate, apply: (a: Value, b: Value) => Value): Evaluate {
  return step((scope) => {
    const [a, b] = [first(scope), second(scope)];
    for (const value of [a, b]) if (numberOf(value) === undefined) spend(scope, weight(value));
    return apply(a, b);
  });
}
