import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { guest } from '../testing/harness.js';
import { withTransition } from './phase.js';

const created = '2026-01-02T03:04:05Z';
const vmi: VirtualMachineInstance = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name: 'vm', uid: 'uid', resourceVersion: '1', creationTimestamp: created },
  spec: guest(),
};

test('the times of phases never go back, though another clock wrote the last one', () => {
  const slow = Date.parse(created) - 60_000;
  assert.deepEqual(withTransition(vmi, 'Scheduling', slow), [
    { phase: 'Pending', phaseTransitionTimestamp: created },
    { phase: 'Scheduling', phaseTransitionTimestamp: created },
  ]);
});

test('a phase that was entered keeps its time', () => {
  const entered = withTransition(vmi, 'Scheduling', Date.parse(created) + 1000);
  const again = withTransition(
    { ...vmi, status: { phaseTransitionTimestamps: entered } },
    'Scheduling',
    Date.parse(created) + 9000,
  );
  assert.deepEqual(again, entered);
});
