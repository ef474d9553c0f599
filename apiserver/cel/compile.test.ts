import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { CelError } from '../admission/plugin/cel/tokens.js';
import { compileCel } from './compile.js';
import { jsonOf } from './json.js';
import { EvaluationError, valueOf } from './values.js';

const variables = {
  object: valueOf({
    metadata: { name: 'vm', namespace: 'default', labels: { app: 'web', 'a/b': 'c' } },
    spec: { cores: 4, ratio: 0.5, disks: [{ name: 'a' }, { name: 'b' }], none: null },
  }),
  request: valueOf({ operation: 'CREATE', userInfo: { username: 'jane', groups: ['devs', 'ops'] } }),
  oldObject: null,
};

test('values', () => {
  const table: readonly (readonly [string, unknown])[] = [
    ['1 + 2 * 3 - 4', 3n],
    ['(1 + 2) * 3', 9n],
    ['7 / 2', 3n],
    ['-7 % 4', -3n],
    ['7.0 / 2.0', 3.5],
    ['1 == 1.0', true],
    ['"a" + \'b\' == "ab"', true],
    [String.raw`"\x41\u0042\103\n" + r"\n"`, 'ABC\n\\n'],
    ['!true || !!true', true],
    ['true ? 1 : 2', 1n],
    ['object.metadata.namespace', 'default'],
    ['object.metadata.labels["a/b"]', 'c'],
    ['object.spec.disks[1].name', 'b'],
    ['has(object.spec.cores) && !has(object.spec.sockets)', true],
    ['object.spec.none == null && oldObject == null', true],
    ['object.spec.cores > 3 && object.spec.ratio < 1', true],
    ['"devs" in request.userInfo.groups', true],
    ['"app" in object.metadata.labels', true],
    ['request.operation in ["CREATE", "UPDATE"]', true],
    ['object.spec.disks.exists(d, d.name == "b")', true],
    ['object.spec.disks.all(d, d.name != "b")', false],
    ['object.spec.disks.exists_one(d, d.name == "b")', true],
    ['object.spec.disks.map(d, d.name)', ['a', 'b']],
    ['object.spec.disks.map(d, d.name == "b", d.name)', ['b']],
    ['object.spec.disks.filter(d, d.name == "b").size()', 1n],
    ['object.metadata.labels.exists(key, key.startsWith("a/"))', true],
    ['size("äöü") == size([1, 2, 3])', true],
    ['{"a": 1, "b": [2]}["b"][0]', 2n],
    ['object.metadata.name.endsWith("m") && object.metadata.name.contains("v")', true],
    ['" Ab ".trim().lowerAscii() + "c".upperAscii()', 'abC'],
    ['int("12") + int(1.9)', 13n],
    ['string(12) + string(true)', '12true'],
    ['double(1) == double("1.0")', true],
    ['[1] + [2] == [1, 2] && {"a": 1} == {"a": 1.0}', true],
    ['"a,b".split(",")[1] < "c"', true],
  ];
  for (const [text, expected] of table) assert.deepEqual(compileCel(text)(variables), expected, text);
});

test('an operand that decides does so whatever the other is', () => {
  const broken = 'object.nowhere';
  for (const text of [
    `${broken} || true`,
    `true || ${broken}`,
    `!(${broken} && false)`,
    `[1, 2].exists(x, x == 2 || ${broken})`,
  ])
    assert.equal(compileCel(text)(variables), true, text);
  for (const text of [`${broken} || false`, `true && ${broken}`, `[1, 2].all(x, ${broken})`])
    assert.throws(() => compileCel(text)(variables), /no such key: nowhere/, text);
});

test('what has no value says why', () => {
  const table: readonly (readonly [string, RegExp])[] = [
    ['object.nowhere', /no such key: nowhere/],
    ['oldObject.metadata', /no such key: metadata/],
    ['authorizer', /undeclared reference to "authorizer"/],
    ['1 + "a"', /no such overload/],
    ['1 / 0', /division by zero/],
    ['9223372036854775807 + 1', /integer overflow/],
    ['1 < "a"', /no such overload/],
    ['object.spec.disks[2]', /index out of bounds: 2/],
    ['size(1)', /^no such overload$/],
    ['1 ? 2 : 3', /^no such overload$/],
    ['object.spec.cores.all(x, true)', /int has no items/],
    ['lists.range(1000000)', /more than 100000 steps/],
    [`${'(lists.range(30000) + '.repeat(5)}[]${')'.repeat(5)}`, /more than 100000 steps/],
    [`${'[1,2,3,4,5,6,7,8,9,10].all(a, '.repeat(6)}true${')'.repeat(6)}`, /more than 100000 steps/],
  ];
  for (const [text, message] of table)
    assert.throws(
      () => compileCel(text)(variables),
      (error) => error instanceof EvaluationError && message.test(error.message),
      text,
    );
});

test('parts of objects and operations of patches, where they may be made', () => {
  const value = (text: string): unknown => jsonOf(compileCel(text, { patchTypes: true })(variables));
  assert.deepEqual(
    value(
      'Object{spec: Object.spec{cores: 2u, ?name: optional.none(), labels: {"a": b"x"}}, namespace: "n"}',
    ),
    { spec: { cores: 2, labels: { a: 'eA==' } }, namespace: 'n' },
  );
  assert.deepEqual(
    value('[JSONPatch{op: "add", path: "/" + jsonpatch.escapeKey("a/b~"), value: [duration("1m")]}]'),
    [{ op: 'add', path: '/a~1b~0', value: ['60s'] }],
  );
  assert.throws(() => value('JSONPatch{op: 1}'), /unexpected type int for JSONPatch 'op' field/);
  assert.throws(() => value('Object{a: quantity("1")}'), /kubernetes.Quantity can not be part of an object/);
  assert.throws(() => value('Object{a: 0.0 / 0.0}'), /the number NaN can not be part/);
});

test('what is not CEL, or not supported, has its place', () => {
  const table: readonly (readonly [string, RegExp])[] = [
    ['', /a name was expected, not the end/],
    ['1 +', /a name was expected/],
    ['has(1)', /has\(\) takes a field/],
    ['object.name.resembles("a")', /the function "resembles" is not supported/],
    ['object object', /was not expected/],
    ['[1].map(x)', /"," was expected/],
    ['18446744073709551616u', /invalid uint literal/],
    ['Object{a: 1}', /was not expected/],
    ['('.repeat(300), /nested too deeply/],
  ];
  for (const [text, message] of table)
    assert.throws(
      () => compileCel(text),
      (error) => error instanceof CelError && message.test(error.message),
      text,
    );
});

test('no text makes it fail in another way', () => {
  const words = fc.constantFrom(
    'object',
    '.',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '"a"',
    '!',
    '-',
    '?',
    ':',
    '1',
    '.all(',
    'x',
    ',',
    '&&',
    '+',
    'in',
    'has(',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(words).map((list) => list.join(' ')),
      ),
      (text) => {
        try {
          compileCel(text)(variables);
        } catch (error) {
          assert.ok(
            error instanceof CelError || error instanceof EvaluationError,
            `${text}: ${String(error)}`,
          );
        }
      },
    ),
  );
});
