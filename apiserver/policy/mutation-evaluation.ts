/** What one mutation of a policy makes of one object: the patch, which the server applies. Knows no threads and no cluster. */
import { jsonOf } from '../cel/json.js';
import { Message, typeFaults } from '../cel/messages.js';
import { BudgetError } from '../cel/scope.js';
import { EvaluationError, isList, type Value } from '../cel/values.js';
import type { Ask } from './authorizer-value.js';
import { ExpressionCompiler, ExpressionError, Expressions, type PolicyInputs } from './expressions.js';
import type { MutatingPolicySpec, Mutation } from './types.js';

export type MutationOutcome =
  /** Whether the match conditions hold; a text: that can not be told, and why. */
  | { readonly type: 'match'; readonly matches: boolean | string }
  /** By the mutation's type an apply configuration, or a list of JSON patch operations. */
  | { readonly type: 'patch'; readonly patch: unknown }
  | { readonly type: 'failure'; readonly message: string };

/** A policy whose expressions are compiled when they are first evaluated. */
export class CompiledMutatingPolicy {
  readonly #compiler = new ExpressionCompiler({ patchTypes: true });

  constructor(readonly spec: MutatingPolicySpec) {}

  match(inputs: PolicyInputs, ask: Ask): MutationOutcome {
    try {
      return { type: 'match', matches: this.#expressions(inputs, ask).match() };
    } catch (error) {
      if (error instanceof BudgetError) return { type: 'match', matches: error.message };
      throw error;
    }
  }

  /** @param index of the mutation */
  mutate(index: number, inputs: PolicyInputs, ask: Ask): MutationOutcome {
    const mutation = this.spec.mutations?.[index];
    if (mutation === undefined) throw new Error(`the policy has no mutation ${index}`);
    try {
      const value = this.#expressions(inputs, ask).evaluate(expressionOf(mutation));
      if (value instanceof ExpressionError) return failure(value.message);
      const patch = mutation.patchType === 'JSONPatch' ? operationsOf(value) : configurationOf(value);
      return { type: 'patch', patch };
    } catch (error) {
      if (error instanceof EvaluationError) return failure(error.message);
      throw error;
    }
  }

  #expressions(inputs: PolicyInputs, ask: Ask): Expressions {
    return new Expressions(this.spec, inputs, ask, this.#compiler);
  }
}

const failure = (message: string): MutationOutcome => ({ type: 'failure', message });

function expressionOf(mutation: Mutation): string {
  return mutation.patchType === 'JSONPatch'
    ? mutation.jsonPatch.expression
    : mutation.applyConfiguration.expression;
}

/** Throws `EvaluationError`. */
function configurationOf(value: Value): unknown {
  if (!(value instanceof Message))
    throw new EvaluationError('unsupported return type from ApplyConfiguration expression');
  checkTypes(value, 'Object');
  return jsonOf(value);
}

/** Throws `EvaluationError`. */
function operationsOf(value: Value): unknown {
  if (!isList(value))
    throw new EvaluationError('type mismatch: JSONPatchType.expression should evaluate to array');
  return value.map((operation) => {
    if (!(operation instanceof Message) || operation.type !== 'JSONPatch')
      throw new EvaluationError(
        'type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch',
      );
    const set = operation.fields.get('value');
    if (set instanceof Message) checkTypes(set, set.type);
    return jsonOf(operation);
  });
}

function checkTypes(value: Message, place: string): void {
  const faults = typeFaults(value, place);
  if (faults.length > 0) throw new EvaluationError(`type mismatch: ${faults.join('\n')}`);
}
