import assert from 'node:assert/strict';
import test from 'node:test';
import { encodeAdvertisement } from './router-advertisement.js';

const ipv6 = {
  address: 'fd10:0:2::2',
  prefixLength: 120,
  bridge: 'k6t-eth0',
  isRouter: true,
  icmp: { send: 1, receive: 2 },
};

test('an advertisement tells router, prefix, MTU and names', () => {
  const names = { servers: ['10.96.0.10', 'fd00::a'], searchDomains: ['local'] };
  const expected = [
    // Hop limit 64, addresses and the rest by DHCPv6, a router for 1800 s.
    '86000000' + '40c00708' + '00000000' + '00000000',
    // On the link, not for addresses of one's own making, for ever.
    '03047880' + 'ffffffff' + 'ffffffff' + '00000000' + 'fd100000000200000000000000000000',
    '05010000' + '000005aa',
    '19030000' + '00000708' + 'fd00000000000000000000000000000a',
    '1f020000' + '00000708' + '056c6f63616c0000',
  ];
  assert.equal(encodeAdvertisement({ ipv6, mtu: 1450, names }).toString('hex'), expected.join(''));
});

test('who can not pass packets on is no router', () => {
  const names = { servers: [], searchDomains: [] };
  const message = encodeAdvertisement({ ipv6: { ...ipv6, isRouter: false }, mtu: 1500, names });
  assert.equal(message.readUInt16BE(6), 0);
  assert.equal(message.length, 16 + 32 + 8);
});
