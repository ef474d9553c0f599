import test from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { chooseProtocol, isClosing, streamProtocol } from './stream-protocols.js';

test('of the offered protocols a known one is chosen, the plain one first, and never a token', () => {
  const token = 'base64url.bearer.authorization.k8s.io.abc';
  const choose = (...offered: string[]): string | undefined => chooseProtocol(new Set(offered));
  assert.equal(choose(token, 'v4.channel.k8s.io', 'plain.kubevirt.io'), 'plain.kubevirt.io');
  assert.equal(choose('v4.channel.k8s.io', 'v5.channel.k8s.io'), 'v5.channel.k8s.io');
  assert.equal(choose(token, 'x'), undefined);
  assert.equal(choose(token), undefined);
});

test('channels are numbered in front of the bytes, as digits in the text forms', () => {
  const hi = Buffer.from('hi');
  const cases: readonly (readonly [protocol: string, message: string, encoded: string])[] = [
    ['plain.kubevirt.io', 'hi', 'hi'],
    ['', 'hi', 'hi'],
    ['v5.channel.k8s.io', '\0hi', '\u0001hi'],
    ['base64.binary.k8s.io', 'aGk=', 'aGk='],
    ['base64.channel.k8s.io', '0aGk=', '1aGk='],
  ];
  for (const [name, message, encoded] of cases) {
    const protocol = streamProtocol(name);
    assert.deepEqual(protocol.decode(Buffer.from(message)), hi, name);
    assert.equal(protocol.encode(hi).toString(), encoded, name);
  }
  const channelled = streamProtocol('v4.channel.k8s.io');
  assert.equal(channelled.decode(Buffer.from('\u0004{"Width":80}')), undefined);
  assert.equal(channelled.decode(Buffer.alloc(0)), undefined);
  assert.equal(isClosing('v5.channel.k8s.io', Buffer.from([255, 0])), true);
  assert.equal(isClosing('v4.channel.k8s.io', Buffer.from([255, 0])), false);
});

test('every byte survives every protocol', () => {
  const names = ['plain.kubevirt.io', 'v4.channel.k8s.io', 'base64.binary.k8s.io', 'base64.channel.k8s.io'];
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.uint8Array(), (name, bytes) => {
      const { decode, encode } = streamProtocol(name);
      const sent = Buffer.from(encode(Buffer.from(bytes)));
      // What the server sends on its channel, a client sends on the other.
      if (name.endsWith('.channel.k8s.io')) sent[0] = name.startsWith('base64') ? 0x30 : 0;
      assert.deepEqual(decode(sent), Buffer.from(bytes));
    }),
  );
});
