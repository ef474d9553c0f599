import test from 'node:test';
import assert from 'node:assert/strict';
import { createVm, kubevirt, startServer, vmOf } from '../../test/apiserver/subresources.js';

test('a new VM shows at once what becomes of it', async (t) => {
  const server = await startServer(t);
  const table = [
    ['always', 'Always', 'Starting'],
    ['once', 'Once', 'Starting'],
    ['rerun', 'RerunOnFailure', 'Starting'],
    ['halted', 'Halted', 'Stopped'],
    ['manual', 'Manual', 'Stopped'],
  ] as const;
  for (const [name, runStrategy, shown] of table) {
    await createVm(server, name, runStrategy);
    assert.deepEqual((await vmOf(server, name))?.status, { printableStatus: shown });
  }
});

test('one without a spec is refused for that', async (t) => {
  const server = await startServer(t);
  const answer = await server.create(`${kubevirt}/virtualmachines`, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: 'bare' },
  });
  assert.equal(answer.status, 422, answer.text);
});
