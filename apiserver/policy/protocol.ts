/** What the server and its policy worker say to each other. */
import type { MessagePort } from 'node:worker_threads';
import type { Question } from './authorizer-value.js';
import type { PolicyInputs, PolicyOutcome } from './evaluation.js';
import type { PolicySpec } from './types.js';

export interface WorkerData {
  /** Where answers to questions come, each a `Verdict`. */
  readonly answers: MessagePort;
  /** Four bytes; 1 once an answer has been sent. */
  readonly answered: SharedArrayBuffer;
}

export interface EvaluationRequest {
  /** Changes with the policy. */
  readonly key: string;
  readonly spec: PolicySpec;
  readonly inputs: PolicyInputs;
}

export type WorkerMessage =
  | { readonly type: 'ready' }
  /** The thread waits for the answer. */
  | { readonly type: 'question'; readonly question: Question }
  | { readonly type: 'outcome'; readonly outcome: PolicyOutcome }
  | { readonly type: 'failure'; readonly message: string };
