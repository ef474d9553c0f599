import assert from 'node:assert/strict';
import test from 'node:test';
import { networkText } from '../../openapi/ip-address.js';
import { FlagError } from '../commands/flags.js';
import { parsePodNetwork } from './pod-network.js';

const skip = process.getuid?.() === 0 ? false : 'only root may ask for a bridge';

test('guests are in user mode unless something else is asked for', () => {
  assert.deepEqual(parsePodNetwork({}), { kind: 'user' });
  assert.throws(() => parsePodNetwork({ 'pod-network': 'macvlan' }), FlagError);
});

test('a bridge has one range of each family, IPv4 first', { skip }, () => {
  const options = parsePodNetwork({
    'pod-network': 'bridge',
    'pod-cidr': 'fd00::/112,10.1.0.0/24',
    'secondary-network': ['blue=br-blue'],
  });
  assert.ok(options.kind === 'bridge');
  assert.equal(options.bridge, 'nativirt0');
  assert.deepEqual(options.ranges.map(networkText), ['10.1.0.0/24', 'fd00::/112']);
  assert.deepEqual([...options.secondary], [['blue', 'br-blue']]);
});

test('what can not be is refused in one line', { skip }, () => {
  const refused = [
    { 'pod-cidr': '10.1.0.0/24,10.2.0.0/24' },
    { 'pod-cidr': '10.1.0.0/31' },
    { 'pod-cidr': 'ten' },
    { 'pod-network-bridge': 'a-name-that-is-too-long' },
    { 'secondary-network': ['blue'] },
    { 'secondary-network': ['blue=../br'] },
  ];
  for (const values of refused) {
    assert.throws(
      () => parsePodNetwork({ 'pod-network': 'bridge', ...values }),
      FlagError,
      JSON.stringify(values),
    );
  }
});
