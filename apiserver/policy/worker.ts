/** Entry of the thread in which policies are evaluated. One at a time: who runs too long is ended with the thread. */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads';
import type { Ask, Verdict } from './authorizer-value.js';
import { CompiledPolicy } from './evaluation.js';
import type { EvaluationRequest, WorkerData, WorkerMessage } from './protocol.js';

const maximumPolicies = 500;

function serve(port: MessagePort, { answers, answered }: WorkerData): void {
  const say = (message: WorkerMessage): void => {
    port.postMessage(message);
  };
  const flag = new Int32Array(answered);
  const ask: Ask = (question) => {
    Atomics.store(flag, 0, 0);
    say({ type: 'question', question });
    Atomics.wait(flag, 0, 0);
    // The server sends it before it raises the flag.
    const { message } = receiveMessageOnPort(answers) as { message: Verdict };
    return message;
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
      say({ type: 'outcome', outcome: policyOf(request).evaluate(request.inputs, ask) });
    } catch (error) {
      say({ type: 'failure', message: error instanceof Error ? error.message : String(error) });
    }
  });
  say({ type: 'ready' });
}

if (parentPort === null) throw new Error('the policy worker is started by the API server');
// What the evaluator gives it.
serve(parentPort, workerData as WorkerData);
