import assert from 'node:assert/strict';
import test from 'node:test';
import { ApiError } from '../errors/api-error.js';
import type { Webhook } from './configuration.js';
import type { WebhookCaller, WebhookDependencies } from './invocation.js';
import {
  context,
  fakeDependencies,
  object,
  request,
  webhooks,
  type Recorded,
  type WebhookSpec,
} from './testing/requests.js';
import { validatingWebhooks } from './validating.js';

const url = (host: string): { readonly url: string } => ({ url: `https://${host}` });

/** What the client gets; undefined: the write is let in. */
async function outcome(
  all: readonly Webhook[],
  dependencies: WebhookDependencies,
  change: Parameters<typeof request>[0] = {},
  recorded: Recorded = context(),
): Promise<ApiError | undefined> {
  try {
    await validatingWebhooks(() => all, dependencies).validateLate?.(request(change), recorded);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error;
  }
}

const one = (spec: Partial<WebhookSpec> = {}): readonly Webhook[] =>
  webhooks({ name: 'w.test', clientConfig: url('w'), ...spec });

test('a refusal bears the code, reason and message of the webhook', async () => {
  const table: readonly (readonly [object | undefined, number, string | undefined, string])[] = [
    [undefined, 400, undefined, 'admission webhook "w.test" denied the request without explanation'],
    [{ message: 'no' }, 400, undefined, 'admission webhook "w.test" denied the request: no'],
    [{ reason: 'Policy' }, 400, 'Policy', 'admission webhook "w.test" denied the request: Policy'],
    [
      { code: 403, message: 'no', reason: 'Forbidden' },
      403,
      'Forbidden',
      'admission webhook "w.test" denied the request: no',
    ],
    [{ code: 200, message: 'no' }, 400, undefined, 'admission webhook "w.test" denied the request: no'],
    [{ code: 418, message: 'tea' }, 418, undefined, 'admission webhook "w.test" denied the request: tea'],
  ];
  for (const [status, code, reason, message] of table) {
    const answer = { allowed: false, ...(status === undefined ? {} : { status }) };
    const refused = await outcome(one(), fakeDependencies({ w: () => answer }));
    const told = refused?.toStatus();
    assert.deepEqual([refused?.code, told?.code, told?.reason, told?.message], [code, code, reason, message]);
  }
});

test('a failed call refuses the write, or does not, as the policy says', async () => {
  const table: readonly (readonly [string, Partial<WebhookSpec>, object | string, RegExp])[] = [
    ['nobody is there', {}, 'connect ECONNREFUSED', /failed to call webhook: connect ECONNREFUSED/],
    [
      'another uid',
      {},
      { uid: 'x', allowed: true },
      /received invalid webhook response: response.uid is "x"/,
    ],
    ['neither allowed nor refused', {}, {}, /neither true nor false/],
    ['a patch of no type', {}, { allowed: true, patch: 'W10=' }, /response.patchType must be JSONPatch/],
    ['a type of no patch', {}, { allowed: true, patchType: 'JSONPatch' }, /has no patch/],
    [
      'a patch that is none',
      {},
      { allowed: true, patchType: 'JSONPatch', patch: 'e30' + 'x' },
      /not JSON in base64/,
    ],
    [
      'old reviews',
      { admissionReviewVersions: ['v1beta1'] },
      { allowed: true },
      /reviews of v1beta1, not of v1/,
    ],
  ];
  for (const [what, spec, answer, message] of table) {
    const dependencies = fakeDependencies({ w: () => answer });
    const refused = await outcome(one(spec), dependencies);
    assert.deepEqual([refused?.code, refused?.reason], [500, 'InternalError'], what);
    assert.match(refused?.message ?? '', /^Internal error occurred: failed calling webhook "w.test": /, what);
    assert.match(refused?.message ?? '', message, what);
    const recorded = context();
    assert.equal(
      await outcome(one({ ...spec, failurePolicy: 'Ignore' }), dependencies, {}, recorded),
      undefined,
    );
    assert.deepEqual(
      [...recorded.annotations],
      [['failed-open.validating.webhook.admission.k8s.io/round_0_index_0', 'w.test']],
      what,
    );
  }
});

test('the policy on failures does not soften a refusal', async () => {
  const dependencies = fakeDependencies({ w: () => ({ allowed: false }) });
  assert.equal((await outcome(one({ failurePolicy: 'Ignore' }), dependencies))?.code, 400);
});

test('a request that is given up ends, whatever the policy', async () => {
  const reason = new ApiError('Timeout', 'too long');
  const caller: WebhookCaller = {
    call: (_client, _review, _seconds, signal) => Promise.reject(signal?.reason as Error),
  };
  const dependencies = { ...fakeDependencies({}), caller };
  const refused = await outcome(
    one({ failurePolicy: 'Ignore' }),
    dependencies,
    {},
    context(AbortSignal.abort(reason)),
  );
  assert.equal(refused, reason);
});

test('a dry run does not reach webhooks that have side effects', async () => {
  const dependencies = fakeDependencies({ w: () => ({ allowed: true }) });
  const refused = await outcome(one({ sideEffects: 'Some' }), dependencies, { dryRun: true });
  assert.deepEqual(
    [refused?.code, refused?.message],
    [400, 'admission webhook "w.test" does not support dry run'],
  );
  assert.deepEqual(dependencies.calls, []);
  assert.equal(
    await outcome(one({ sideEffects: 'NoneOnDryRun' }), dependencies, { dryRun: true }),
    undefined,
  );
  assert.equal(await outcome(one({ sideEffects: 'Some' }), dependencies), undefined);
  assert.deepEqual(dependencies.calls, ['w', 'w']);
});

test('all are asked at once, and the first refusal in their order counts', async () => {
  const waiting: (() => void)[] = [];
  const dependencies = fakeDependencies({ a: () => ({ allowed: false }), b: () => ({ allowed: false }) });
  const caller: WebhookCaller = {
    call: (...call) =>
      new Promise((resolve) => {
        waiting.unshift(() => {
          resolve(dependencies.caller.call(...call));
        });
        // Answers come only when both have been asked, the last one's first.
        if (waiting.length === 2) for (const answer of waiting) answer();
      }),
  };
  const both = webhooks({ name: 'a', clientConfig: url('a') }, { name: 'b', clientConfig: url('b') });
  const refused = await outcome(both, { ...dependencies, caller });
  assert.match(refused?.message ?? '', /webhook "a" denied/);
  assert.deepEqual(dependencies.calls, ['b', 'a']);
});

test('match conditions', async () => {
  const dependencies = fakeDependencies({ w: () => ({ allowed: false }) });
  const code = async (expressions: readonly string[], spec: Partial<WebhookSpec> = {}): Promise<number> => {
    const matchConditions = expressions.map((expression, index) => ({ name: `c${index}`, expression }));
    return (await outcome(one({ matchConditions, ...spec }), dependencies))?.code ?? 200;
  };
  assert.equal(await code(['true', 'true']), 400, 'all hold');
  assert.equal(await code(['request.userInfo.username == "jane" && object.metadata.name == "vm"']), 400);
  assert.equal(await code(['"devs" in request.userInfo.groups && oldObject != null']), 200);
  assert.equal(await code(['true', 'false']), 200, 'one does not');
  assert.equal(await code(['broken', 'false']), 200, 'one does not, whatever the other is');
  assert.equal(await code(['broken', 'true']), 403, 'it can not be told');
  assert.equal(await code(['broken'], { failurePolicy: 'Ignore' }), 200, 'it can not be told, and need not');
});

test('deletes are told with what is deleted', async () => {
  const seen: unknown[] = [];
  const dependencies = fakeDependencies({
    w: ({ object: now, oldObject, options }) => {
      seen.push(now, (oldObject as ReturnType<typeof object>).metadata.name, options);
      return { allowed: true };
    },
  });
  const change = { operation: 'DELETE', object: undefined, oldObject: object() } as const;
  assert.equal(await outcome(one(), dependencies, change), undefined);
  assert.deepEqual(seen, [null, 'vm', { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' }]);
});
