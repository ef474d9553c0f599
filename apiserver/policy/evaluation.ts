/** What one policy says of one write. Knows no threads and no cluster. */
import { CelError } from '../admission/plugin/cel/tokens.js';
import { compileCel, type Program } from '../cel/compile.js';
import { Budget, BudgetError } from '../cel/scope.js';
import { EvaluationError, Opaque, valueOf, type Value } from '../cel/values.js';
import { AuthorizerValue, type Ask } from './authorizer-value.js';
import type { PolicySpec, Validation } from './types.js';

/** JSON documents, null where there is none. */
export interface PolicyInputs {
  readonly object: unknown;
  readonly oldObject: unknown;
  readonly request: unknown;
  readonly params: unknown;
  readonly namespaceObject: unknown;
}

export interface Denial {
  /** Place of the validation; undefined: no validation, but that the policy could not be evaluated. */
  readonly index: number | undefined;
  readonly message: string;
  /** Of a Status; the default if undefined. */
  readonly reason: string | undefined;
}

export interface PolicyOutcome {
  readonly denials: readonly Denial[];
  readonly annotations: readonly { readonly key: string; readonly value: string }[];
  /** Hold up the write whatever the binding does with denials. */
  readonly annotationErrors: readonly string[];
}

export const nothingToSay: PolicyOutcome = { denials: [], annotations: [], annotationErrors: [] };

/** What follows if the policy can not be evaluated. */
export function failed({ failurePolicy = 'Fail' }: PolicySpec, message: string): PolicyOutcome {
  if (failurePolicy === 'Ignore') return nothingToSay;
  return { ...nothingToSay, denials: [{ index: undefined, message, reason: undefined }] };
}

/** Steps: of one expression, of all validations together, and of all match conditions. */
const expressionSteps = 1_000_000;
const validationSteps = 10_000_000;
const conditionSteps = 2_500_000;
const exhausted =
  'validation failed due to running out of cost budget, no further validation rules will be run';
const maximumMessage = 5 * 1024;

/** A policy whose expressions are compiled when they are first evaluated. */
export class CompiledPolicy {
  readonly #programs = new Map<string, Program>();

  constructor(readonly spec: PolicySpec) {}

  evaluate(inputs: PolicyInputs, ask: Ask): PolicyOutcome {
    try {
      return new Evaluation(this.spec, inputs, ask, (expression) => this.#compiled(expression)).outcome();
    } catch (error) {
      if (error instanceof BudgetError) return failed(this.spec, exhausted);
      throw error;
    }
  }

  /** Throws `CelError`. */
  #compiled(expression: string): Program {
    const known = this.#programs.get(expression);
    if (known !== undefined) return known;
    const program = compileCel(expression);
    this.#programs.set(expression, program);
    return program;
  }
}

/** An expression of the policy that has no value. */
class ExpressionError extends Error {}

class Evaluation {
  readonly #names: Readonly<Record<string, Value>>;
  #budget = new Budget(validationSteps);

  constructor(
    private readonly spec: PolicySpec,
    inputs: PolicyInputs,
    ask: Ask,
    private readonly compiled: (expression: string) => Program,
  ) {
    const named = Object.entries(inputs).map(([name, value]) => [name, valueOf(value)] as const);
    const variables = new Variables(spec.variables ?? [], (expression) => this.#value(expression));
    const authorizer = new AuthorizerValue(ask, requestTarget(inputs.request));
    this.#names = { ...Object.fromEntries(named), variables, authorizer };
  }

  outcome(): PolicyOutcome {
    const { validations = [], auditAnnotations = [] } = this.spec;
    const matches = this.#matches();
    if (typeof matches === 'string') return failed(this.spec, matches);
    if (!matches) return nothingToSay;
    this.#budget = new Budget(validationSteps);
    const denials = validations.flatMap((validation, index) => this.#denial(validation, index));
    this.#budget = new Budget(validationSteps);
    const annotations: { key: string; value: string }[] = [];
    const annotationErrors: string[] = [];
    for (const { key, valueExpression } of auditAnnotations) {
      const value = this.#annotation(valueExpression);
      if (value instanceof ExpressionError) annotationErrors.push(value.message);
      else if (value !== '') annotations.push({ key, value });
    }
    const held = this.spec.failurePolicy === 'Ignore' ? [] : annotationErrors;
    return { denials, annotations, annotationErrors: held };
  }

  /** One condition that does not hold decides, whatever can not be told of the others. A text: none decides, and why. */
  #matches(): boolean | string {
    this.#budget = new Budget(conditionSteps);
    const failures: string[] = [];
    for (const { expression } of this.spec.matchConditions ?? []) {
      const value = this.#try(expression);
      if (value === false) return false;
      if (value instanceof ExpressionError) failures.push(value.message);
      else if (value !== true) failures.push(`expression '${expression}' resulted in no truth value`);
    }
    return failures.length === 0 || failures.join(', ');
  }

  #denial(validation: Validation, index: number): readonly Denial[] {
    const { expression, reason } = validation;
    const value = this.#try(expression);
    if (value instanceof ExpressionError) {
      if (this.spec.failurePolicy === 'Ignore') return [];
      return [{ index, message: value.message, reason: undefined }];
    }
    return value === true ? [] : [{ index, message: this.#message(validation), reason }];
  }

  #message({ expression, message = '', messageExpression = '' }: Validation): string {
    const fallback = message.trim() === '' ? `failed expression: ${expression.trim()}` : message.trim();
    if (messageExpression === '') return fallback;
    const value = this.#try(messageExpression);
    if (typeof value !== 'string') return fallback;
    const text = value.trim();
    return text === '' || text.length > maximumMessage || text.includes('\n') ? fallback : text;
  }

  #annotation(expression: string): string | ExpressionError {
    const value = this.#try(expression);
    if (value instanceof ExpressionError) return value;
    if (value === null) return '';
    if (typeof value === 'string') return value.trim();
    return new ExpressionError(`valueExpression '${expression}' resulted in unsupported return type`);
  }

  #try(expression: string): Value | ExpressionError {
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
    const program = this.compiled(expression);
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
    private readonly list: NonNullable<PolicySpec['variables']>,
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
