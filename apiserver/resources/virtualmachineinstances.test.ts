import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { startRegistry } from '../registry/testing/fixture.js';

test('the label of the node follows the status, and nobody takes it away', async (t) => {
  const { request, close } = await startRegistry();
  t.after(close);
  await request('POST', '/api/v1/namespaces', {
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } },
  });
  const path = '/apis/kubevirt.io/v1/namespaces/n/virtualmachineinstances';
  await request('POST', path, {
    body: {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata: { name: 'a', labels: { app: 'x' } },
      spec: { domain: { devices: {} } },
    },
  });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const labels = async (subresource: string, body: object): Promise<unknown> => {
    const answer = await request('PATCH', `${path}/a${subresource}`, { body, headers });
    return (answer.body as VirtualMachineInstance).metadata.labels;
  };
  assert.deepEqual(await labels('/status', { status: { phase: 'Scheduling' } }), { app: 'x' });
  const one = { app: 'x', 'kubevirt.io/nodeName': 'one' };
  assert.deepEqual(await labels('/status', { status: { nodeName: 'one' } }), one);
  assert.deepEqual(await labels('', { metadata: { labels: { 'kubevirt.io/nodeName': null } } }), one);
  const two = { ...one, 'kubevirt.io/nodeName': 'two' };
  assert.deepEqual(await labels('/status', { status: { nodeName: 'two' } }), two);
});
