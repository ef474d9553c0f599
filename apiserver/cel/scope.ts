/** What an expression may name while it is evaluated, and how much it may do. */
import { EvaluationError, TypeValue, type Value } from './values.js';

/** How much an evaluation may do: each operator, field and call is a step, and what a call reads costs more. */
export class Budget {
  #left: number;

  constructor(readonly steps: number) {
    this.#left = steps;
  }

  get spent(): number {
    return this.steps - this.#left;
  }

  /** What has been done elsewhere on its account; throws nothing. */
  charge(steps: number): void {
    this.#left = Math.max(0, this.#left - steps);
  }

  /** Throws `BudgetError` if that is too much. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new BudgetError(`takes more than ${this.steps} steps`);
  }
}

/** Unlike other errors it is not made good by an operand that decides. */
export class BudgetError extends EvaluationError {}

/** The names that an expression may use, and how much it may do. */
export interface Scope {
  readonly variables: ReadonlyMap<string, Value>;
  readonly budget: Budget;
}
export type Evaluate = (scope: Scope) => Value;

/** Types have names as variables have, for `type(x) == string`. */
const typeNames = new Set([
  ...[
    'bool',
    'bytes',
    'double',
    'int',
    'list',
    'map',
    'null_type',
    'optional_type',
    'string',
    'type',
    'uint',
  ],
  ...['google.protobuf.Duration', 'google.protobuf.Timestamp', 'net.CIDR', 'net.IP'],
  ...['kubernetes.NamedFormat', 'kubernetes.Quantity', 'kubernetes.Semver', 'kubernetes.URL'],
]);

export function isTypeName(name: string): boolean {
  return typeNames.has(name);
}

export function spend({ budget }: Scope, steps: number): void {
  budget.spend(steps);
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
  if (value === undefined && isTypeName(name)) return new TypeValue(name);
  if (value === undefined) throw new EvaluationError(`undeclared reference to ${JSON.stringify(name)}`);
  return value;
}

/** @param names and their values, in turn */
export function withVariables(
  { variables, budget }: Scope,
  names: readonly string[],
  values: readonly Value[],
): Scope {
  const bound = names.map((name, index) => [name, values[index] ?? null] as const);
  return { variables: new Map([...variables, ...bound]), budget };
}
