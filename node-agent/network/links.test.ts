import assert from 'node:assert/strict';
import test from 'node:test';
import { bridgeLink, linkCommands, tapLink, type Link } from './links.js';

const wanted = [
  { name: 'br', create: bridgeLink, mtu: 1450, addresses: ['10.0.2.1/24', 'fe80::1/64'] },
  { name: 'tap0', create: tapLink(107, 4), mtu: 1450, master: 'br' },
];

function link(ifname: string, more: Partial<Link> = {}): Link {
  return { ifname, address: '02:00:00:00:00:01', mtu: 1450, flags: ['UP'], addr_info: [], ...more };
}

test('what is missing is made', () => {
  assert.deepEqual(linkCommands([], wanted), [
    'link add br type bridge forward_delay 0',
    'link set dev br addrgenmode none',
    'link set dev br mtu 1450 up',
    'address add 10.0.2.1/24 dev br',
    'address add fe80::1/64 dev br nodad',
    'tuntap add dev tap0 mode tap user 107 multi_queue',
    'link set dev tap0 mtu 1450 master br up',
  ]);
});

test('what is there is left alone', () => {
  const present = [
    link('br', {
      addr_info: [
        { local: '10.0.2.1', prefixlen: 24, family: 'inet', scope: 'global' },
        { local: 'fe80::1', prefixlen: 64, family: 'inet6', scope: 'link' },
      ],
    }),
    link('tap0', { master: 'br' }),
  ];
  assert.deepEqual(linkCommands(present, wanted), []);
});

test('what was left half done is finished', () => {
  const present = [link('br', { flags: [], mtu: 1500 }), link('tap0')];
  assert.deepEqual(linkCommands(present, wanted), [
    'link set dev br mtu 1450 up',
    'address add 10.0.2.1/24 dev br',
    'address add fe80::1/64 dev br nodad',
    'link set dev tap0 master br',
  ]);
});
