/** What one validating policy says of one write. Knows no threads and no cluster. */
import { BudgetError } from '../cel/scope.js';
import type { Ask } from './authorizer-value.js';
import { ExpressionCompiler, ExpressionError, Expressions, type PolicyInputs } from './expressions.js';
import type { PolicySpec, Validation } from './types.js';

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

const exhausted =
  'validation failed due to running out of cost budget, no further validation rules will be run';
const maximumMessage = 5 * 1024;

/** A policy whose expressions are compiled when they are first evaluated. */
export class CompiledPolicy {
  readonly #compiler = new ExpressionCompiler();

  constructor(readonly spec: PolicySpec) {}

  evaluate(inputs: PolicyInputs, ask: Ask): PolicyOutcome {
    try {
      return new Evaluation(this.spec, new Expressions(this.spec, inputs, ask, this.#compiler)).outcome();
    } catch (error) {
      if (error instanceof BudgetError) return failed(this.spec, exhausted);
      throw error;
    }
  }
}

class Evaluation {
  constructor(
    private readonly spec: PolicySpec,
    private readonly expressions: Expressions,
  ) {}

  outcome(): PolicyOutcome {
    const { validations = [], auditAnnotations = [] } = this.spec;
    const matches = this.expressions.match();
    if (typeof matches === 'string') return failed(this.spec, matches);
    if (!matches) return nothingToSay;
    this.expressions.beginPurpose();
    const denials = validations.flatMap((validation, index) => this.#denial(validation, index));
    this.expressions.beginPurpose();
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

  #denial(validation: Validation, index: number): readonly Denial[] {
    const { expression, reason } = validation;
    const value = this.expressions.evaluate(expression);
    if (value instanceof ExpressionError) {
      if (this.spec.failurePolicy === 'Ignore') return [];
      return [{ index, message: value.message, reason: undefined }];
    }
    return value === true ? [] : [{ index, message: this.#message(validation), reason }];
  }

  #message({ expression, message = '', messageExpression = '' }: Validation): string {
    const fallback = message.trim() === '' ? `failed expression: ${expression.trim()}` : message.trim();
    if (messageExpression === '') return fallback;
    const value = this.expressions.evaluate(messageExpression);
    if (typeof value !== 'string') return fallback;
    const text = value.trim();
    return text === '' || text.length > maximumMessage || text.includes('\n') ? fallback : text;
  }

  #annotation(expression: string): string | ExpressionError {
    const value = this.expressions.evaluate(expression);
    if (value instanceof ExpressionError) return value;
    if (value === null) return '';
    if (typeof value === 'string') return value.trim();
    return new ExpressionError(`valueExpression '${expression}' resulted in unsupported return type`);
  }
}
