import assert from 'node:assert/strict';
import test from 'node:test';
import { CompiledPolicy, type PolicyOutcome } from './evaluation.js';
import type { PolicyInputs } from './expressions.js';
import type { PolicySpec } from './types.js';

const inputs: PolicyInputs = {
  object: { metadata: { name: 'vm', labels: { team: 'a' } }, spec: { cores: 4 } },
  oldObject: null,
  request: {
    operation: 'CREATE',
    resource: { group: 'g', resource: 'machines' },
    userInfo: { username: 'jane' },
  },
  params: { data: { most: '2' } },
  namespaceObject: { metadata: { name: 'default' } },
};

const outcome = (spec: PolicySpec): PolicyOutcome =>
  new CompiledPolicy(spec).evaluate(inputs, ({ verb, resource, path, serviceAccount }) => ({
    allowed: verb === 'get',
    reason: `${verb} ${path ?? resource} as ${serviceAccount?.name ?? 'the user'}`,
  }));
const messages = (spec: PolicySpec): readonly string[] => outcome(spec).denials.map(({ message }) => message);

test('a validation that does not hold denies, in the words that the policy gives', () => {
  const expression = 'object.spec.cores <= int(params.data.most)';
  assert.deepEqual(outcome({ validations: [{ expression: 'object.spec.cores == 4' }] }).denials, []);
  assert.deepEqual(
    messages({
      validations: [
        { expression },
        { expression, message: ' too many ' },
        { expression, messageExpression: '"at most " + params.data.most' },
        { expression, message: 'too many', messageExpression: 'object.nowhere' },
        { expression, message: 'too many', messageExpression: '"two\\nlines"' },
        { expression: 'object.spec.cores' },
      ],
    }),
    [
      `failed expression: ${expression}`,
      'too many',
      'at most 2',
      'too many',
      'too many',
      'failed expression: object.spec.cores',
    ],
  );
  const [denial] = outcome({ validations: [{ expression: 'false', reason: 'Forbidden' }] }).denials;
  assert.equal(denial?.reason, 'Forbidden');
});

test('what can not be evaluated counts by the failure policy', () => {
  const validations = [{ expression: 'object.spec.sockets > 1' }];
  const message = "expression 'object.spec.sockets > 1' resulted in error: no such key: sockets";
  assert.deepEqual(messages({ validations }), [message]);
  assert.deepEqual(messages({ validations, failurePolicy: 'Ignore' }), []);
  assert.deepEqual(messages({ validations: [{ expression: 'object.spec.' }] }), [
    'compilation error: a name was expected, not the end',
  ]);
});

test('conditions decide whether the policy is concerned', () => {
  const validations = [{ expression: 'false', message: 'no' }];
  const conditions = (...expressions: string[]): PolicySpec => ({
    validations,
    matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
  });
  assert.deepEqual(messages(conditions('request.operation == "CREATE"')), ['no']);
  assert.deepEqual(messages(conditions('request.operation == "DELETE"')), []);
  assert.deepEqual(messages(conditions('object.nowhere', 'false')), [], 'one that does not hold decides');
  assert.match(messages(conditions('object.nowhere', 'true')).join(), /no such key: nowhere/);
});

test('the authorizer is asked', () => {
  const reasons: Readonly<Record<string, string>> = {
    'authorizer.group("").resource("secrets").namespace("x").check("get")': 'get secrets as the user',
    'authorizer.path("/metrics").check("get")': 'get /metrics as the user',
    'authorizer.serviceAccount("ns", "sa").requestResource.check("get")': 'get machines as sa',
  };
  for (const [check, reason] of Object.entries(reasons))
    assert.deepEqual(
      messages({ validations: [{ expression: `${check}.allowed() && ${check}.reason() == "${reason}"` }] }),
      [],
      check,
    );
  const refused = 'authorizer.group("").resource("secrets").check("list")';
  assert.equal(messages({ validations: [{ expression: `${refused}.allowed()` }] }).length, 1);
});

test('variables are evaluated when they are asked for, and may use others', () => {
  const variables = [
    { name: 'cores', expression: 'object.spec.cores' },
    { name: 'many', expression: 'variables.cores > 2' },
    { name: 'broken', expression: 'object.nowhere' },
    { name: 'circle', expression: 'variables.circle' },
  ];
  assert.deepEqual(messages({ variables, validations: [{ expression: 'variables.many' }] }), []);
  assert.match(
    messages({ variables, validations: [{ expression: 'variables.broken' }] }).join(),
    /composited variable "broken" fails to evaluate: no such key: nowhere/,
  );
  assert.match(
    messages({ variables, validations: [{ expression: 'variables.circle' }] }).join(),
    /needs itself/,
  );
});

test('audit annotations are values, or hold up the write if they have none', () => {
  const auditAnnotations = [
    { key: 'cores', valueExpression: 'string(object.spec.cores)' },
    { key: 'none', valueExpression: 'null' },
    { key: 'broken', valueExpression: 'object.nowhere' },
  ];
  const { annotations, annotationErrors } = outcome({ auditAnnotations });
  assert.deepEqual(annotations, [{ key: 'cores', value: '4' }]);
  assert.match(annotationErrors.join(), /no such key: nowhere/);
  assert.deepEqual(outcome({ auditAnnotations, failurePolicy: 'Ignore' }).annotationErrors, []);
});

test('a policy that does too much is ended', () => {
  const list = '[1,2,3,4,5,6,7,8,9,10]';
  const nested = (depth: number): string =>
    depth === 0 ? 'true' : `${list}.all(x${depth}, ${nested(depth - 1)})`;
  assert.match(
    messages({ validations: [{ expression: nested(7) }] }).join(),
    /takes more than 1000000 steps/,
  );
  const validations = Array.from({ length: 20 }, () => ({ expression: nested(7) }));
  assert.deepEqual(messages({ validations }), [
    'validation failed due to running out of cost budget, no further validation rules will be run',
  ]);
});
