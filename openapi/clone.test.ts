import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { cloneJson } from './clone.js';

test('a copy is equal, and shares nothing', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.deepEqual(cloneJson(value), value);
    }),
  );
  const original = { list: [{ name: 'a' }] };
  const copy = cloneJson(original);
  assert.notEqual(copy.list, original.list);
  assert.notEqual(copy.list[0], original.list[0]);
});

test('no member reaches the prototype', () => {
  const copy = cloneJson(JSON.parse('{"__proto__": {"admin": true}}') as object);
  assert.equal(Object.getPrototypeOf(copy), Object.prototype);
  assert.deepEqual(Object.keys(copy), ['__proto__']);
});
