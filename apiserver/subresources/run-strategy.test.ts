import test from 'node:test';
import assert from 'node:assert/strict';
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { ObjectMeta } from '../../openapi/meta.js';
import { planRestart, planStart, planStop, type Plan } from './run-strategy.js';

const metadata: ObjectMeta = {
  name: 'a',
  namespace: 'x',
  uid: 'u1',
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
};

function vm(spec: Partial<VirtualMachine['spec']>, status: VirtualMachine['status'] = {}): VirtualMachine {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata,
    spec: { template: { spec: { domain: { devices: {} } } }, ...spec },
    status,
  };
}

function vmi(phase: string, grace?: number): VirtualMachineInstance {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata,
    spec: {
      domain: { devices: {} },
      ...(grace === undefined ? {} : { terminationGracePeriodSeconds: grace }),
    },
    status: { phase },
  };
}

/** `run`, `halt`, `refuse`, or the actions that are requested. */
function short(plan: Plan): string {
  switch (plan.kind) {
    case 'run':
      return plan.running ? 'run' : 'halt';
    case 'request':
      return plan.requests
        .map(({ action, uid, data }) => [action, uid, data?.['paused']].filter(Boolean).join(':'))
        .join(' ');
    case 'refuse':
      return 'refuse';
  }
}

/** strategy, VMI's phase ('' for none), start, stop, restart */
const table: readonly (readonly [string, string, string, string, string])[] = [
  ['Always', '', 'refuse', 'halt', 'refuse'],
  ['Always', 'Running', 'refuse', 'halt', 'Stop:u1 Start'],
  ['Once', '', 'refuse', 'halt', 'refuse'],
  ['Once', 'Running', 'refuse', 'halt', 'refuse'],
  ['Halted', '', 'run', 'refuse', 'refuse'],
  ['Halted', 'Succeeded', 'run', 'refuse', 'refuse'],
  ['Halted', 'Running', 'refuse', 'refuse', 'refuse'],
  ['Manual', '', 'Start', 'refuse', 'refuse'],
  ['Manual', 'Running', 'refuse', 'Stop:u1', 'Stop:u1 Start'],
  ['Manual', 'Failed', 'Stop:u1 Start', 'refuse', 'Stop:u1 Start'],
  ['Manual', 'Succeeded', 'Stop:u1 Start', 'refuse', 'Stop:u1 Start'],
  ['RerunOnFailure', '', 'Start', 'refuse', 'refuse'],
  ['RerunOnFailure', 'Running', 'refuse', 'Stop:u1', 'Stop:u1 Start'],
  ['RerunOnFailure', 'Failed', 'refuse', 'refuse', 'Stop:u1 Start'],
  ['RerunOnFailure', 'Succeeded', 'Stop:u1 Start', 'refuse', 'Stop:u1 Start'],
];

test('what each action means for each run strategy', () => {
  for (const [runStrategy, phase, start, stop, restart] of table) {
    const instance = phase === '' ? undefined : vmi(phase, 30);
    const machine = vm({ runStrategy });
    assert.deepEqual(
      [
        short(planStart(machine, instance, false)),
        short(planStop(machine, instance, undefined)),
        short(planRestart(machine, instance)),
      ],
      [start, stop, restart],
      `${runStrategy}, ${phase}`,
    );
  }
});

test('spec.running is Always or Halted', () => {
  assert.equal(short(planStart(vm({ running: false }), undefined, false)), 'run');
  assert.equal(short(planStop(vm({ running: true }), vmi('Running'), undefined)), 'halt');
});

test('a halted VM that is still stopping takes only a shorter grace period', () => {
  const halted = vm({ runStrategy: 'Halted' });
  assert.equal(short(planStop(halted, vmi('Running', 30), 0)), 'Stop:u1');
  assert.equal(short(planStop(halted, vmi('Running', 30), 30)), 'refuse');
  assert.equal(short(planStop(halted, vmi('Running'), 10)), 'Stop:u1');
});

test('a paused start is asked of the controller, unless the template says it already', () => {
  assert.equal(short(planStart(vm({ runStrategy: 'Halted' }), undefined, true)), 'Start:true');
  assert.equal(short(planStart(vm({ runStrategy: 'Manual' }), undefined, true)), 'Start:true');
  const paused = { template: { spec: { domain: { devices: {} }, startStrategy: 'Paused' } } };
  assert.equal(short(planStart(vm({ runStrategy: 'Halted', ...paused }), undefined, true)), 'run');
});

test('while a change is under way only a stop gets through', () => {
  const busy = vm({ runStrategy: 'Manual' }, { stateChangeRequests: [{ action: 'Start' }] });
  assert.equal(short(planStart(busy, undefined, false)), 'refuse');
  assert.equal(short(planRestart(busy, vmi('Running'))), 'refuse');
  assert.equal(short(planStop(busy, vmi('Running'), undefined)), 'Stop:u1');
});
