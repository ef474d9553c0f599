/** What the server and its policy worker say to each other. */
import type { MessagePort } from 'node:worker_threads';
import type { Question } from './authorizer-value.js';
import type { PolicyOutcome } from './evaluation.js';
import type { PolicyInputs } from './expressions.js';
import type { MutationOutcome } from './mutation-evaluation.js';
import type { MutatingPolicySpec, PolicySpec } from './types.js';

export interface WorkerData {
  /** Where answers to questions come, each a `Verdict`. */
  readonly answers: MessagePort;
  /** Four bytes; 1 once an answer has been sent. */
  readonly answered: SharedArrayBuffer;
}

interface Evaluated<Spec> {
  /** Changes with the policy. */
  readonly key: string;
  readonly spec: Spec;
  readonly inputs: PolicyInputs;
}

export type ValidationRequest = Evaluated<PolicySpec>;

export interface MutationRequest extends Evaluated<MutatingPolicySpec> {
  /** Place of the mutation; undefined: whether the conditions of the policy hold. */
  readonly mutation: number | undefined;
}

export type EvaluationRequest =
  ({ readonly type: 'validation' } & ValidationRequest) | ({ readonly type: 'mutation' } & MutationRequest);

/** Of the type of the request. */
export type EvaluationOutcome =
  | { readonly type: 'validation'; readonly outcome: PolicyOutcome }
  | { readonly type: 'mutation'; readonly outcome: MutationOutcome };

export type WorkerMessage =
  | { readonly type: 'ready' }
  /** The thread waits for the answer. */
  | { readonly type: 'question'; readonly question: Question }
  | EvaluationOutcome
  | { readonly type: 'failure'; readonly message: string };
