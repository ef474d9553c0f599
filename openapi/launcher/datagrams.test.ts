import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { DatagramReader, frameDatagram } from './datagrams.js';

test('datagrams come out as they went in, however the stream is cut', () => {
  const datagrams = fc.array(fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)));
  fc.assert(
    fc.property(datagrams, fc.integer({ min: 1, max: 50 }), (sent, size) => {
      const stream = Buffer.concat(sent.map(frameDatagram));
      const reader = new DatagramReader();
      const received: Buffer[] = [];
      for (let at = 0; at < stream.length; at += size) {
        received.push(...reader.push(stream.subarray(at, at + size)));
      }
      assert.deepEqual(received, sent);
    }),
  );
});

test('more than a datagram can hold is refused', () => {
  assert.equal(frameDatagram(Buffer.alloc(0xffff)).length, 2 + 0xffff);
  assert.throws(() => frameDatagram(Buffer.alloc(0x10000)), RangeError);
});
