/** Entry of the thread in which policies are evaluated. One at a time: who runs too long is ended with the thread. */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads';
import type { Ask, Verdict } from './authorizer-value.js';
import { CompiledPolicy } from './evaluation.js';
import { CompiledMutatingPolicy } from './mutation-evaluation.js';
import type { EvaluationOutcome, EvaluationRequest, WorkerData, WorkerMessage } from './protocol.js';

const maximumPolicies = 500;

/** Remembers what it compiled. */
function compiledOnce<Spec, Policy>(
  Compiled: new (spec: Spec) => Policy,
): (key: string, spec: Spec) => Policy {
  const policies = new Map<string, Policy>();
  return (key, spec) => {
    const known = policies.get(key);
    if (known !== undefined) return known;
    if (policies.size >= maximumPolicies) policies.clear();
    const policy = new Compiled(spec);
    policies.set(key, policy);
    return policy;
  };
}

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
  const validating = compiledOnce(CompiledPolicy);
  const mutating = compiledOnce(CompiledMutatingPolicy);
  const evaluate = (request: EvaluationRequest): EvaluationOutcome => {
    const { key, inputs } = request;
    if (request.type === 'validation')
      return { type: 'validation', outcome: validating(key, request.spec).evaluate(inputs, ask) };
    const policy = mutating(key, request.spec);
    const { mutation } = request;
    const outcome = mutation === undefined ? policy.match(inputs, ask) : policy.mutate(mutation, inputs, ask);
    return { type: 'mutation', outcome };
  };
  port.on('message', (request: EvaluationRequest) => {
    try {
      say(evaluate(request));
    } catch (error) {
      say({ type: 'failure', message: error instanceof Error ? error.message : String(error) });
    }
  });
  say({ type: 'ready' });
}

if (parentPort === null) throw new Error('the policy worker is started by the API server');
// What the evaluator gives it.
serve(parentPort, workerData as WorkerData);
