import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { guest } from '../testing/harness.js';
import { isDown, mostUnavailable } from './rollout.js';

const pool = { selector: {}, virtualMachineTemplate: {} };
const metadata = { name: 'web-0', uid: '1', resourceVersion: '1', creationTimestamp: '2026-01-02T03:04:05Z' };

test('how many VMs may be down: rounded down, but never none', () => {
  const table = [
    [undefined, 4, 4],
    [2, 4, 2],
    ['50%', 5, 2],
    ['10%', 5, 1],
    ['100%', 0, 1],
  ] as const;
  for (const [maxUnavailable, replicas, expected] of table) {
    const given = maxUnavailable === undefined ? {} : { maxUnavailable };
    assert.equal(mostUnavailable({ ...pool, replicas, ...given }), expected, String(maxUnavailable));
  }
});

test('down is what is meant to serve and does not', () => {
  const vm = (runStrategy: string): VirtualMachine => ({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata,
    spec: { runStrategy, template: {} },
  });
  const vmi = (phase: string, ready: 'True' | 'False'): VirtualMachineInstance => ({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata,
    spec: guest(),
    status: { phase, conditions: [{ type: 'Ready', status: ready }] },
  });
  const table = [
    ['Always', undefined, true],
    ['Always', vmi('Failed', 'False'), true],
    ['Always', vmi('Running', 'False'), true],
    ['Always', vmi('Running', 'True'), false],
    ['Manual', undefined, false],
    ['Manual', vmi('Scheduling', 'False'), true],
    ['RerunOnFailure', vmi('Succeeded', 'False'), false],
    ['Halted', undefined, false],
  ] as const;
  for (const [runStrategy, instance, expected] of table)
    assert.equal(isDown({ vm: vm(runStrategy), vmi: instance }), expected, runStrategy);
});
