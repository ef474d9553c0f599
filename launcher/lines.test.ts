import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { LineSplitter } from './lines.js';

test('lines do not depend on how the bytes arrive', () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, '').trim());
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(20)), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\r\n`).join(''));
      const splitter = new LineSplitter(1 << 16);
      const seen: string[] = [];
      let start = 0;
      for (const cut of [...cuts, bytes.length]) {
        seen.push(...splitter.push(bytes.subarray(start, start + cut)));
        start += cut;
      }
      assert.deepEqual(
        seen,
        lines.filter((text) => text !== ''),
      );
      assert.equal(splitter.rest().length, 0);
    }),
  );
});

test('a reader may stop between two lines and take the rest as bytes', () => {
  const splitter = new LineSplitter(100);
  for (const line of splitter.push(Buffer.from('one\ntwo\nthr\xff', 'latin1'))) if (line === 'one') break;
  assert.deepEqual(splitter.rest(), Buffer.from('two\nthr\xff', 'latin1'));
});

test('a line that is too long is an error, whether it ends or not', () => {
  assert.throws(() => [...new LineSplitter(4).push(Buffer.from('12345'))], RangeError);
  assert.throws(() => [...new LineSplitter(4).push(Buffer.from('12345\n'))], RangeError);
});
