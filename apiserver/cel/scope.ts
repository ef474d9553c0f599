/** What an expression may name while it is evaluated, and how much it may do. */
import { EvaluationError, type Value } from './values.js';

/** An evaluation may take so many steps: each operator, field and call is one. */
export const maximumSteps = 100_000;

/** The names that an expression may use, and how much it has done. */
export interface Scope {
  readonly variables: ReadonlyMap<string, Value>;
  readonly budget: { steps: number };
}
export type Evaluate = (scope: Scope) => Value;

export function spend({ budget }: Scope, steps: number): void {
  budget.steps -= steps;
  if (budget.steps < 0) throw new EvaluationError(`takes more than ${maximumSteps} steps`);
}

/** Counts an evaluation. */
export function step(evaluate: Evaluate): Evaluate {
  return (scope) => {
    spend(scope, 1);
    return evaluate(scope);
  };
}

export function variable({ variables }: Scope, name: string): Value {
  const value = variables.get(name);
  if (value === undefined) throw new EvaluationError(`undeclared reference to ${JSON.stringify(name)}`);
  return value;
}

export function withVariable({ variables, budget }: Scope, name: string, value: Value): Scope {
  return { variables: new Map([...variables, [name, value]]), budget };
}
