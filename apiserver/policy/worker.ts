/** Entry of the thread in which policies are evaluated. One at a time: who runs too long is ended with the thread. */
import { parentPort } from 'node:worker_threads';
import { CompiledPolicy } from './evaluation.js';
import type { EvaluationRequest, WorkerMessage } from './protocol.js';

const maximumPolicies = 500;

function serve(): void {
  const port = parentPort;
  if (port === null) throw new Error('the policy worker is started by the API server');
  const say = (message: WorkerMessage): void => {
    port.postMessage(message);
  };
  const policies = new Map<string, CompiledPolicy>();
  const policyOf = ({ key, spec }: EvaluationRequest): CompiledPolicy => {
    const known = policies.get(key);
    if (known !== undefined) return known;
    if (policies.size >= maximumPolicies) policies.clear();
    const policy = new CompiledPolicy(spec);
    policies.set(key, policy);
    return policy;
  };
  port.on('message', (request: EvaluationRequest) => {
    try {
      say({ type: 'outcome', outcome: policyOf(request).evaluate(request.inputs) });
    } catch (error) {
      say({ type: 'failure', message: error instanceof Error ? error.message : String(error) });
    }
  });
  say({ type: 'ready' });
}

serve();
