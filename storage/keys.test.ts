import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkKey, compareKeys, prefixEnd } from './keys.js';

const unicode = fc.string({ unit: 'binary', maxLength: 6 });

test('keys are ordered as their bytes are', () => {
  fc.assert(
    fc.property(unicode, unicode, (a, b) => {
      assert.equal(Math.sign(compareKeys(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

test('the end of a prefix is behind all that begin with it, and before all others behind it', () => {
  fc.assert(
    fc.property(unicode, unicode, (rest, other) => {
      const end = prefixEnd('/a/');
      assert.ok(end !== undefined);
      assert.ok(compareKeys(`/a/${rest}`, end) < 0);
      assert.equal(other.startsWith('/a/'), compareKeys(other, '/a/') >= 0 && compareKeys(other, end) < 0);
    }),
  );
  assert.equal(prefixEnd(''), undefined);
  assert.throws(() => prefixEnd('/ä'), RangeError);
});

test('keys that backends can not keep apart are refused', () => {
  checkKey('/core/pods/ns/name');
  for (const key of ['', 'a', '/a\0b', '/\ud800', `/${'x'.repeat(4096)}`]) {
    assert.throws(() => checkKey(key), RangeError);
  }
});
