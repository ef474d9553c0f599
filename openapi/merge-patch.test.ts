import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { createMergePatch, mergePatch } from './merge-patch.js';

test('the examples of RFC 7386', () => {
  const cases: readonly (readonly [unknown, unknown, unknown])[] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, expected] of cases) assert.deepEqual(mergePatch(target, patch), expected);
});

test('prototypes stay clean', () => {
  const patch: unknown = JSON.parse(
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
  );
  const result = mergePatch({}, patch) as Record<string, unknown>;
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  assert.equal(Object.getPrototypeOf(result), Object.prototype);
  assert.deepEqual(Object.keys(result), ['__proto__', 'constructor']);
  assert.deepEqual(mergePatch({}, { toString: { a: 1 } }), { toString: { a: 1 } });
});

const withoutNull = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.string({ maxLength: 2 }), tie('value'), { maxKeys: 4, noNullPrototype: true }),
}));

test('property: arguments are not changed, and applying twice is applying once', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (target, patch) => {
      const [targetText, patchText] = [JSON.stringify(target), JSON.stringify(patch)];
      const once = mergePatch(target, patch);
      assert.equal(JSON.stringify(target), targetText);
      assert.equal(JSON.stringify(patch), patchText);
      assert.deepEqual(mergePatch(once, patch), once);
    }),
  );
});

test('property: a created patch makes the one object of the other', () => {
  fc.assert(
    fc.property(withoutNull.object, withoutNull.object, (from, to) => {
      assert.deepEqual(mergePatch(from, createMergePatch(from, to)), to);
      assert.deepEqual(createMergePatch(from, from), {});
    }),
  );
});
