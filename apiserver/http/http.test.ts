import test from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RequestScope } from './request-scope.js';
import { childTraceparent, parseTraceparent } from './trace-context.js';
import { acceptsGzip, batches, warningHeader } from './write-reply.js';

test('a scope tells late listeners too, and only the first reason counts', async () => {
  const scope = new RequestScope();
  const racing = scope.race(new Promise(() => undefined));
  const first = new Error('first');
  scope.abort(first);
  scope.abort(new Error('second'));
  await assert.rejects(racing, first);
  assert.equal(scope.signal.reason, first);
  await assert.rejects(scope.race(Promise.resolve(1)), first);
});

test('trace context: what keeps to the specification goes on, with a span of our own', () => {
  const trace = '0af7651916cd43dd8448eb211c80319c';
  const header = `00-${trace}-b7ad6b7169203331-01`;
  const parsed = parseTraceparent(header);
  assert.deepEqual(parsed, { traceId: trace, parentId: 'b7ad6b7169203331', sampled: true });
  const child = childTraceparent(parsed);
  assert.match(child, new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`));
  assert.notEqual(child, header);
  const broken = [
    undefined,
    '',
    `ff-${trace}-b7ad6b7169203331-01`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `${header}-more`,
    header.toUpperCase(),
  ];
  for (const text of broken) assert.equal(parseTraceparent(text), undefined, text);
});

test('gzip only for those who take it', () => {
  assert.equal(acceptsGzip('gzip'), true);
  assert.equal(acceptsGzip('br, GZIP;q=0.5'), true);
  assert.equal(acceptsGzip('gzip;q=0'), false);
  assert.equal(acceptsGzip('gzip; q=0.0'), false);
  assert.equal(acceptsGzip('x-gzip'), false);
  assert.equal(acceptsGzip(undefined), false);
});

test('batches hold the same bytes in the same order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 400_000 }), { maxLength: 12 }), (sizes) => {
      const chunks = sizes.map((size, index) => Buffer.alloc(size, index));
      const merged = [...batches(chunks)];
      assert.ok(Buffer.concat(merged).equals(Buffer.concat(chunks)));
      assert.ok(merged.length <= chunks.length);
    }),
    { numRuns: 30 },
  );
});

test('a warning is one header, whatever its text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const header = warningHeader(text);
      assert.match(header, /^299 - "(?:[^"\\]|\\.)*"$/s);
      assert.doesNotMatch(header, /[\r\n\0]/);
    }),
  );
});
