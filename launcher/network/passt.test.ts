import assert from 'node:assert/strict';
import test from 'node:test';
import { passtProgram, portList } from './passt.js';

test('passt lets in what the spec lists, and everything where it lists nothing', () => {
  assert.equal(portList({ name: 'default' }, 'TCP'), 'all');
  const entry = {
    name: 'default',
    ports: [{ port: 80 }, { port: 53, protocol: 'UDP' }],
    portRanges: [{ start: 8000, end: 8080, protocol: 'TCP' }],
  };
  assert.equal(portList(entry, 'TCP'), '80,8000-8080');
  assert.equal(portList(entry, 'UDP'), '53');
  assert.equal(portList({ name: 'default', ports: [{ port: 80 }] }, 'UDP'), 'none');
});

test('a node without passt says so', () => {
  const made = { kind: 'passt', mac: '02:00:00:00:00:01', podInterface: 'eth0', addresses: [] } as const;
  assert.throws(
    () => passtProgram({ name: 'default' }, made, '/nowhere', false),
    /install the package passt/,
  );
});
