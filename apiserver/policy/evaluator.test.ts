import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { PolicyOutcome } from './evaluation.js';
import { ThreadEvaluator, type ThreadEvaluatorOptions } from './evaluator.js';

function start(t: TestContext, options: ThreadEvaluatorOptions = {}): ThreadEvaluator {
  const evaluator = new ThreadEvaluator(options);
  t.after(() => evaluator.close());
  return evaluator;
}

function evaluate(
  evaluator: ThreadEvaluator,
  expression: string,
  object: unknown = {},
): Promise<PolicyOutcome> {
  const request = {
    key: expression,
    spec: { validations: [{ expression }] },
    inputs: { object, oldObject: null, request: {}, params: null, namespaceObject: null },
  };
  return evaluator.validate(request, ({ verb }) => Promise.resolve({ allowed: verb === 'get', reason: '' }));
}

const denials = async (outcome: Promise<PolicyOutcome>): Promise<number> => (await outcome).denials.length;

test('evaluations run elsewhere, one after the other', async (t) => {
  const evaluator = start(t);
  const counts = await Promise.all(
    ['true', 'false', 'object.a == 1', 'object.a == 2'].map((each) =>
      denials(evaluate(evaluator, each, { a: 1 })),
    ),
  );
  assert.deepEqual(counts, [0, 1, 0, 1]);
});

test('the thread waits for what it asks', async (t) => {
  const evaluator = start(t);
  const check = (verb: string): string => `authorizer.path("/x").check("${verb}").allowed()`;
  assert.equal(
    await denials(evaluate(evaluator, `${check('get')} && !${check('put')} && ${check('get')}`)),
    0,
  );
});

test('who does not finish in time is ended, and the next one has a thread again', async (t) => {
  const evaluator = start(t, { timeLimit: 50 });
  // Comparing long lists is one step.
  const list = Array.from({ length: 20_000 }, (_, index) => index);
  const slow = 'object.list.all(x, object.list == object.list)';
  const [ended, next] = [evaluate(evaluator, slow, { list }), evaluate(evaluator, 'false')];
  await assert.rejects(ended, /did not finish within 50 ms/);
  assert.equal(await denials(next), 1);
});

test('no more wait than may', async (t) => {
  const evaluator = start(t, { maximumWaiting: 2 });
  const all = await Promise.allSettled(['true', 'true', 'true'].map((each) => evaluate(evaluator, each)));
  assert.deepEqual(
    all.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected'],
  );
});

test('a worker that can not start fails what waits', async (t) => {
  const evaluator = start(t, { worker: new URL('missing.ts', import.meta.url) });
  await assert.rejects(evaluate(evaluator, 'true'), /the policy worker ended/);
});

test('who waits is told when the server stops', async () => {
  const evaluator = new ThreadEvaluator();
  const waiting = evaluate(evaluator, 'true');
  const rejected = assert.rejects(waiting, /the server is stopping/);
  await evaluator.close();
  await rejected;
  await assert.rejects(evaluate(evaluator, 'true'), /the server is stopping/);
});
