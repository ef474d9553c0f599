/** The expressions of one policy over one write: what they may name, and how much they may do together. */
import { CelError } from '../admission/plugin/cel/tokens.js';
import { compileCel, type CompileOptions, type Program } from '../cel/compile.js';
import { Budget, BudgetError } from '../cel/scope.js';
import { EvaluationError, Opaque, valueOf, type Value } from '../cel/values.js';
import { AuthorizerValue, type Ask } from './authorizer-value.js';
import type { CommonSpec } from './types.js';

/** JSON documents, null where there is none. */
export interface PolicyInputs {
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly request: unknown;
  readonly params: unknown;
  readonly namespaceObject: unknown;
}

/** Steps: of one expression, of all that are evaluated for one purpose, and of all match conditions. */
const expressionSteps = 1_000_000;
const purposeSteps = 10_000_000;
const conditionSteps = 2_500_000;

/** An expression of the policy that has no value. */
export class ExpressionError extends Error {}

/** Compiles each expression when it is first evaluated. */
export class ExpressionCompiler {
  readonly #programs = new Map<string, Program>();

  constructor(private readonly options: CompileOptions = {}) {}

  /** Throws `CelError`. */
  program(expression: string): Program {
    const known = this.#programs.get(expression);
    if (known !== undefined) return known;
    const program = compileCel(expression, this.options);
    this.#programs.set(expression, program);
    return program;
  }
}

export class Expressions {
  readonly #names: Readonly<Record<string, Value>>;
  #budget = new Budget(purposeSteps);

  constructor(
    private readonly spec: CommonSpec,
    inputs: PolicyInputs,
    ask: Ask,
    private readonly compiler: ExpressionCompiler,
  ) {
    const named = Object.entries(inputs).map(([name, value]) => [name, valueOf(value)] as const);
    const variables = new Variables(spec.variables ?? [], (expression) => this.#value(expression));
    const authorizer = new AuthorizerValue(ask, requestTarget(inputs.request));
    this.#names = { ...Object.fromEntries(named), variables, authorizer };
  }

  /** What follows has steps of its own. */
  beginPurpose(): void {
    this.#budget = new Budget(purposeSteps);
  }

  /**
   * One condition that does not hold decides, whatever can not be told of the others. A text: none decides, and why. Throws
   * `BudgetError`.
   */
  match(): boolean | string {
    this.#budget = new Budget(conditionSteps);
    const failures: string[] = [];
    for (const { expression } of this.spec.matchConditions ?? []) {
      const value = this.evaluate(expression);
      if (value === false) return false;
      if (value instanceof ExpressionError) failures.push(value.message);
      else if (value !== true) failures.push(`expression '${expression}' resulted in no truth value`);
    }
    return failures.length === 0 || failures.join(', ');
  }

  /** Throws `BudgetError` once no step is left to the purpose. */
  evaluate(expression: string): Value | ExpressionError {
    try {
      return this.#value(expression);
    } catch (error) {
      if (error instanceof BudgetError && this.#budget.spent >= this.#budget.steps) throw error;
      if (error instanceof CelError) return new ExpressionError(`compilation error: ${error.message}`);
      if (error instanceof EvaluationError)
        return new ExpressionError(`expression '${expression}' resulted in error: ${error.message}`);
      throw error;
    }
  }

  /** Throws `CelError` and `EvaluationError`. */
  #value(expression: string): Value {
    const program = this.compiler.program(expression);
    const own = new Budget(Math.min(expressionSteps, this.#budget.steps - this.#budget.spent));
    try {
      return program(this.#names, own);
    } finally {
      this.#budget.charge(own.spent);
    }
  }
}

/** What an AdmissionRequest is about. */
function requestTarget(request: unknown): Record<string, string> {
  const { resource, subResource, namespace, name } = (request ?? {}) as {
    readonly resource?: { readonly group: string; readonly resource: string };
    readonly subResource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  return {
    group: resource?.group ?? '',
    resource: resource?.resource ?? '',
    subresource: subResource ?? '',
    namespace: namespace ?? '',
    name: name ?? '',
  };
}

/** Variables have their value when it is first asked for. */
class Variables extends Opaque {
  readonly type = 'kubernetes.variables';
  readonly #values = new Map<string, Value | EvaluationError>();

  constructor(
    private readonly list: NonNullable<CommonSpec['variables']>,
    private readonly value: (expression: string) => Value,
  ) {
    super();
  }

  override field(name: string): Value | undefined {
    const variable = this.list.find((each) => each.name === name);
    if (variable === undefined) return undefined;
    const known = this.#values.get(name);
    if (known instanceof EvaluationError) throw known;
    if (known !== undefined) return known;
    this.#values.set(name, new EvaluationError(`variable ${JSON.stringify(name)} needs itself`));
    const value = this.#evaluate(name, variable.expression);
    this.#values.set(name, value);
    if (value instanceof EvaluationError) throw value;
    return value;
  }

  #evaluate(name: string, expression: string): Value | EvaluationError {
    try {
      return this.value(expression);
    } catch (error) {
      if (error instanceof BudgetError) throw error;
      const { message } = error instanceof Error ? error : new Error(String(error));
      return new EvaluationError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${message}`);
    }
  }
}
