/** What the server and its policy worker say to each other. */
import type { PolicyInputs, PolicyOutcome } from './evaluation.js';
import type { PolicySpec } from './types.js';

export interface EvaluationRequest {
  /** Changes with the policy. */
  readonly key: string;
  readonly spec: PolicySpec;
  readonly inputs: PolicyInputs;
}

export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'outcome'; readonly outcome: PolicyOutcome }
  | { readonly type: 'failure'; readonly message: string };
