import assert from 'node:assert/strict';
import { isIPv6 } from 'node:net';
import test from 'node:test';
import fc from 'fast-check';
import {
  addressAt,
  addressBytes,
  addressText,
  contains,
  ipv4Mask,
  networkText,
  parseRange,
  sizeOf,
} from './ip-address.js';

test('addresses are written as RFC 5952 wants them', () => {
  const examples = {
    'fd10:0:2::2': 'fd10:0:2::2',
    '::': '::',
    '::1': '::1',
    '1::': '1::',
    '2001:DB8:0:1:1:1:1:1': '2001:db8:0:1:1:1:1:1',
    '1:0:0:2:0:0:0:3': '1:0:0:2::3',
    '::ffff:192.0.2.1': '::ffff:c000:201',
    '192.0.2.1': '192.0.2.1',
  };
  for (const [text, canonical] of Object.entries(examples)) {
    assert.equal(addressText(addressBytes(text)), canonical);
  }
});

test('any 16 bytes become a text that stands for them', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constant(0), fc.nat(255)), { minLength: 16, maxLength: 16 }),
      (bytes) => {
        const text = addressText(Buffer.from(bytes));
        assert.ok(isIPv6(text), text);
        assert.deepEqual([...addressBytes(text)], bytes);
      },
    ),
  );
});

test('ranges know their addresses', () => {
  const range = parseRange('10.0.2.7/24');
  assert.equal(networkText(range), '10.0.2.0/24');
  assert.equal(addressAt(range, 2), '10.0.2.2');
  assert.equal(sizeOf(range), 256n);
  assert.ok(contains(range, '10.0.2.255'));
  assert.ok(!contains(range, '10.0.3.0'));
  assert.ok(!contains(range, '::a00:200'));
  assert.equal(addressAt(parseRange('fd10:0:2::/120'), 2), 'fd10:0:2::2');
  assert.equal(ipv4Mask(20), '255.255.240.0');
  assert.equal(ipv4Mask(0), '0.0.0.0');
});

test('what is no range is refused', () => {
  for (const text of [
    '',
    '10.0.2',
    '10.0.2.0/33',
    '10.0.2.0/x',
    '10.0.2.0/24/1',
    'fe80::1%eth0/64',
    'fd::/129',
  ])
    assert.throws(() => parseRange(text), RangeError, text);
});
