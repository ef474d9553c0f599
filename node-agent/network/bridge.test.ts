import assert from 'node:assert/strict';
import test from 'node:test';
import { bridge } from './bridge.js';
import type { HandedOver } from './state.js';

const input = {
  entry: { name: 'default', bridge: {} },
  pod: {},
  tap: 'tap0',
  bridge: 'k6t-eth0',
  user: 107,
  queues: 1,
  mac: '0a:58:0a:f4:00:05',
  icmp: { send: 58001, receive: 58002 },
};

test('a guest gets what a usual pod has', () => {
  const given: HandedOver = {
    mac: '0a:58:0a:f4:00:05',
    addresses: ['10.244.0.5/24', 'fd10:244::5/112'],
    routes: [
      { family: 4, dst: 'default', gateway: '10.244.0.1' },
      { family: 4, dst: '10.244.0.0/24', protocol: 'kernel' },
      { family: 4, dst: '10.96.0.0/12', gateway: '10.244.0.2' },
      { family: 6, dst: 'default', gateway: 'fd10:244::1' },
      { family: 6, dst: 'fd10:244::/112', protocol: 'kernel' },
    ],
  };
  const { links, routes, tap } = bridge(input, 'eth0', 1450, given, 0);
  assert.deepEqual(tap.addresses, ['10.244.0.5', 'fd10:244::5']);
  assert.deepEqual(tap.ipv4, {
    address: '10.244.0.5',
    prefixLength: 24,
    server: '169.254.75.10',
    gateway: '10.244.0.1',
    routes: [{ destination: '10.96.0.0/12', gateway: '10.244.0.2' }],
  });
  assert.deepEqual(tap.ipv6, {
    address: 'fd10:244::5',
    prefixLength: 112,
    bridge: 'k6t-eth0',
    isRouter: true,
    icmp: input.icmp,
  });
  assert.deepEqual(routes, [
    'route replace 10.244.0.5/32 dev k6t-eth0 src 169.254.75.10',
    'route replace fd10:244::5/128 dev k6t-eth0',
    'route replace fd10:244::/112 dev k6t-eth0',
    'route replace ::/0 via fd10:244::1 dev k6t-eth0',
  ]);
  const macs = new Set([given.mac, ...links.map(({ mac }) => mac)]);
  assert.equal(macs.size, 4, 'the guest, the bridge and the interface have an address each, the tap its own');
});

test('a guest whose gateway is outside its network knows the way there', () => {
  const given: HandedOver = {
    mac: '0a:58:0a:f4:00:05',
    addresses: ['192.168.7.9/32'],
    routes: [
      { family: 4, dst: 'default', gateway: '169.254.1.1' },
      { family: 4, dst: '169.254.1.1' },
    ],
  };
  const { tap } = bridge(input, 'eth0', 1450, given, 0);
  assert.deepEqual(tap.ipv4?.routes, [{ destination: '169.254.1.1/32', gateway: '0.0.0.0' }]);
  assert.equal(tap.ipv6, undefined);
});

test('an interface without addresses gives none', () => {
  const { routes, tap } = bridge(input, 'eth0', 1450, { mac: input.mac, addresses: [], routes: [] }, 1);
  assert.deepEqual([routes, tap.ipv4, tap.ipv6, tap.addresses], [[], undefined, undefined, []]);
});
