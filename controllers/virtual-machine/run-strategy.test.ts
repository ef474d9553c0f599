import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { RunStrategy } from '../constants.js';
import { decide, isStartExpected, runStrategyOf, type Action } from './run-strategy.js';
import { pendingRequests, wantsStop } from './state-change-requests.js';

function instance(phase: string, uid = 'u1', deleted = false): VirtualMachineInstance {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: {
      name: 'vm',
      uid,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...(deleted ? { deletionTimestamp: '2026-01-01T00:00:01Z' } : {}),
    },
    spec: { domain: { devices: {} } },
    status: { phase },
  };
}

const start = { action: 'Start' };
const stop = { action: 'Stop', uid: 'u1' };

type Case = readonly [
  strategy: RunStrategy,
  phase: string | undefined,
  requests: { action: string; uid?: string }[],
  expected: Action['kind'],
];

const cases: readonly Case[] = [
  ['Always', undefined, [], 'start'],
  ['Always', 'Running', [], 'none'],
  ['Always', 'Succeeded', [], 'stop'],
  ['Always', 'Failed', [], 'stop'],
  ['Always', 'Running', [stop, start], 'stop'],
  ['Halted', undefined, [], 'none'],
  ['Halted', 'Running', [], 'stop'],
  ['Halted', 'Succeeded', [], 'stop'],
  ['Halted', undefined, [start], 'setRunStrategy'],
  ['Manual', undefined, [], 'none'],
  ['Manual', undefined, [start], 'start'],
  ['Manual', 'Running', [], 'none'],
  ['Manual', 'Running', [stop], 'stop'],
  ['Manual', 'Failed', [], 'none'],
  ['Manual', 'Succeeded', [stop, start], 'stop'],
  ['RerunOnFailure', 'Running', [], 'none'],
  ['RerunOnFailure', 'Failed', [], 'stop'],
  ['RerunOnFailure', 'Succeeded', [], 'none'],
  ['RerunOnFailure', 'Succeeded', [stop, start], 'stop'],
  ['RerunOnFailure', 'Running', [stop], 'stop'],
  ['RerunOnFailure', undefined, [], 'none'],
  ['RerunOnFailure', undefined, [start], 'start'],
  ['Once', undefined, [], 'start'],
  ['Once', 'Succeeded', [], 'none'],
  ['Once', 'Failed', [], 'none'],
  ['Once', 'Running', [stop], 'stop'],
  ['WaitAsReceiver', undefined, [], 'none'],
];

for (const [runStrategy, phase, requests, expected] of cases) {
  const asked = requests.map(({ action }) => action).join(', ');
  test(`${runStrategy}, ${phase ?? 'no instance'}${asked === '' ? '' : `, ${asked}`}: ${expected}`, () => {
    const vmi = phase === undefined ? undefined : instance(phase);
    assert.equal(decide({ runStrategy, observedRunStrategy: runStrategy, requests, vmi }).kind, expected);
  });
}

test('RerunOnFailure starts by itself when it is new', () => {
  const situation = { runStrategy: 'RerunOnFailure', requests: [], vmi: undefined } as const;
  assert.equal(decide({ ...situation, observedRunStrategy: undefined }).kind, 'start');
  assert.equal(decide({ ...situation, observedRunStrategy: 'Halted' }).kind, 'start');
});

test('a failed instance of RerunOnFailure leaves a request to start behind', () => {
  const vmi = instance('Failed');
  const action = decide({
    runStrategy: 'RerunOnFailure',
    observedRunStrategy: 'RerunOnFailure',
    requests: [],
    vmi,
  });
  assert.deepEqual(action, { kind: 'stop', restart: true });
});

test('nothing is done about an instance that is on its way out', () => {
  for (const runStrategy of ['Always', 'Halted', 'Manual', 'RerunOnFailure', 'Once'] as const) {
    const vmi = instance('Failed', 'u1', true);
    assert.equal(
      decide({ runStrategy, observedRunStrategy: runStrategy, requests: [stop], vmi }).kind,
      'none',
    );
  }
});

test('a start may be asked to leave the guest paused', () => {
  const requests = [{ action: 'Start', data: { paused: 'true' } }];
  const action = decide({ runStrategy: 'Manual', observedRunStrategy: 'Manual', requests, vmi: undefined });
  assert.deepEqual(action, { kind: 'start', paused: true });
});

test('spec.running stands for Always and Halted', () => {
  const vm = (spec: Partial<VirtualMachine['spec']>): VirtualMachine => ({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: instance('').metadata,
    spec: { template: {}, ...spec },
  });
  assert.equal(runStrategyOf(vm({ running: true })), 'Always');
  assert.equal(runStrategyOf(vm({ running: false })), 'Halted');
  assert.equal(runStrategyOf(vm({ runStrategy: 'Manual' })), 'Manual');
  assert.equal(runStrategyOf(vm({})), 'Halted');
});

test('requests are worked off from the front, as the instance changes', () => {
  const restart = [stop, start];
  assert.deepEqual(pendingRequests(restart, instance('Running', 'u1')), restart);
  assert.deepEqual(pendingRequests(restart, undefined), [start]);
  assert.deepEqual(pendingRequests(restart, instance('Pending', 'u2')), []);
  assert.deepEqual(pendingRequests([start], undefined), [start]);
  assert.deepEqual(pendingRequests([{ action: 'Dance' }, start], undefined), [start]);
  assert.equal(wantsStop(restart, instance('Running', 'u2')), false);
});

test('only what is to come by itself can crash-loop', () => {
  assert.equal(isStartExpected('Always', []), true);
  assert.equal(isStartExpected('Halted', []), false);
  assert.equal(isStartExpected('Manual', []), false);
  assert.equal(isStartExpected('Manual', [start]), true);
});
