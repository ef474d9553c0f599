import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { Scrollback } from './scrollback.js';

test('the scrollback is the end of everything that was appended', () => {
  const chunk = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 32 }), fc.array(chunk), (capacity, chunks) => {
      const scrollback = new Scrollback(capacity);
      for (const piece of chunks) scrollback.append(piece);
      const all = Buffer.concat(chunks);
      assert.deepEqual(scrollback.content(), all.subarray(Math.max(0, all.length - capacity)));
    }),
  );
});
