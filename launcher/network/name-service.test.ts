import assert from 'node:assert/strict';
import test from 'node:test';
import { encodeDomains, parseResolvConf } from './name-service.js';

test('the guest is told what the pod asks, but for servers that it can not reach', () => {
  const text =
    '# made by hand\nsearch ns.svc.cluster.local svc.cluster.local\nnameserver 127.0.0.53\nnameserver 10.96.0.10\nnameserver fd00::a\nnameserver none\noptions ndots:5\n';
  assert.deepEqual(parseResolvConf(text), {
    servers: ['10.96.0.10', 'fd00::a'],
    searchDomains: ['ns.svc.cluster.local', 'svc.cluster.local'],
  });
});

test('domains are written label by label', () => {
  assert.equal(encodeDomains(['a.bc.', 'd']).toString('latin1'), '\x01a\x02bc\x00\x01d\x00');
});
