import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { ConnectionError, StatusError } from './errors.js';
import { lines, watchEvents } from './watch-stream.js';

async function* chunked(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  let start = 0;
  for (const cut of [...cuts, bytes.length]) {
    if (cut > start) yield bytes.subarray(start, cut);
    start = Math.max(start, cut);
    await Promise.resolve();
  }
}

async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of source) all.push(each);
  return all;
}

test('lines come out whole, wherever the stream was cut', async () => {
  const texts = fc.array(
    fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' ')),
    { maxLength: 20 },
  );
  await fc.assert(
    fc.asyncProperty(texts, fc.array(fc.nat(200)), async (wanted, cuts) => {
      const bytes = Buffer.from(wanted.map((line) => `${line}\n`).join(''));
      const sorted = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
      assert.deepEqual(await collect(lines(chunked(bytes, sorted), 1_000_000)), wanted);
    }),
  );
});

test('a line that never ends is given up', async () => {
  const endless = chunked(Buffer.alloc(3000, 'x'), [1000, 2000]);
  await assert.rejects(collect(lines(endless, 2500)), /longer than 2500 bytes/);
});

test('a stream that stops in the middle of an event is broken, not ended', async () => {
  await assert.rejects(collect(lines(chunked(Buffer.from('{"a":1}\n{"b"'), []), 100)), ConnectionError);
});

test('events are decoded; bookmarks carry only their version', async () => {
  const object = { metadata: { name: 'a', resourceVersion: '4' } };
  const text = [
    { type: 'ADDED', object },
    { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } },
  ]
    .map((event) => `${JSON.stringify(event)}\n`)
    .join('');
  assert.deepEqual(await collect(watchEvents(chunked(Buffer.from(text), []), 1000)), [
    { type: 'ADDED', object },
    { type: 'BOOKMARK', resourceVersion: '9' },
  ]);
});

test('an ERROR event is thrown as the Status that it carries', async () => {
  const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
  const text = `${JSON.stringify({ type: 'ERROR', object: status })}\n`;
  await assert.rejects(collect(watchEvents(chunked(Buffer.from(text), []), 1000)), (error) => {
    assert.ok(error instanceof StatusError);
    assert.equal(error.reason, 'Expired');
    return true;
  });
});

for (const [what, text] of [
  ['no JSON', 'oops'],
  ['an unknown type', '{"type":"MOVED","object":{}}'],
  ['no object', '{"type":"ADDED"}'],
  ['a bookmark without version', '{"type":"BOOKMARK","object":{}}'],
] as const)
  test(`a watch with ${what} is broken`, async () => {
    await assert.rejects(collect(watchEvents(chunked(Buffer.from(`${text}\n`), []), 1000)), ConnectionError);
  });
