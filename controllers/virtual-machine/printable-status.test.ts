import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachine, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { printableStatuses, type PrintableStatus } from '../constants.js';
import { printableStatus, type PrintableInput } from './printable-status.js';

const metadata = { name: 'vm', uid: 'u1', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const spec = { domain: { devices: {} } };
const deleted = { ...metadata, deletionTimestamp: '2026-01-01T00:00:01Z' };

const vm: VirtualMachine = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata,
  spec: { template: {} },
};

function vmi(status: VirtualMachineInstance['status'], of = metadata): VirtualMachineInstance {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: of,
    spec,
    ...(status === undefined ? {} : { status }),
  };
}

const notSynchronized = (reason: string) =>
  vmi({ phase: 'Pending', conditions: [{ type: 'Synchronized', status: 'False', reason }] });
const crashed = { consecutiveFailCount: 1 };

const cases: readonly [string, PrintableStatus, Partial<PrintableInput>][] = [
  ['no instance', 'Stopped', {}],
  ['no instance, asked to start', 'Starting', { runStrategy: 'Manual', requests: [{ action: 'Start' }] }],
  ['no instance yet after a failed start', 'CrashLoopBackOff', { startFailure: crashed }],
  ['waiting for a migration to arrive', 'WaitingForReceiver', { runStrategy: 'WaitAsReceiver' }],
  ['contents being imported', 'Provisioning', { dataVolumes: { kind: 'waiting' } }],
  [
    'contents that can not be imported',
    'DataVolumeError',
    { dataVolumes: { kind: 'failed', failure: { reason: 'FailedCreate', message: '' } } },
  ],
  ['deleted', 'Terminating', { vm: { ...vm, metadata: deleted }, vmi: vmi({ phase: 'Running' }) }],
  ['an instance without phase', 'Starting', { vmi: vmi(undefined) }],
  ['scheduled', 'Starting', { vmi: vmi({ phase: 'Scheduled' }) }],
  [
    'waiting for a volume',
    'WaitingForVolumeBinding',
    { vmi: vmi({ phase: 'Pending' }), waitsForVolumes: true },
  ],
  ['running', 'Running', { vmi: vmi({ phase: 'Running' }), waitsForVolumes: true }],
  ['paused', 'Paused', { vmi: vmi({ phase: 'Running', conditions: [{ type: 'Paused', status: 'True' }] }) }],
  [
    'migrating',
    'Migrating',
    { vmi: vmi({ phase: 'Running', migrationState: { startTimestamp: '2026-01-01T00:00:00Z' } }) },
  ],
  [
    'migrated',
    'Running',
    { vmi: vmi({ phase: 'Running', migrationState: { startTimestamp: 'x', completed: true } }) },
  ],
  ['being stopped', 'Stopping', { vmi: vmi({ phase: 'Running' }), stopping: true }],
  [
    'ended while being stopped',
    'Stopping',
    {
      vm: { ...vm, status: { printableStatus: 'Running' } },
      vmi: vmi({ phase: 'Succeeded' }, deleted),
      stopping: true,
    },
  ],
  ['ended', 'Stopped', { vmi: vmi({ phase: 'Succeeded' }) }],
  [
    'ended and deleted',
    'Stopped',
    {
      vm: { ...vm, status: { printableStatus: 'Stopped' } },
      vmi: vmi({ phase: 'Succeeded' }, deleted),
      stopping: true,
    },
  ],
  ['failed at start', 'CrashLoopBackOff', { vmi: vmi({ phase: 'Failed' }), startFailure: crashed }],
  ['lost', 'Unknown', { vmi: vmi({ phase: 'Unknown' }) }],
  [
    'no node',
    'ErrorUnschedulable',
    {
      vmi: vmi({
        phase: 'Scheduling',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
      }),
    },
  ],
  ['no claim', 'ErrorPvcNotFound', { vmi: notSynchronized('FailedPvcNotFound') }],
  ['no image', 'ErrImagePull', { vmi: notSynchronized('ErrImagePull') }],
  ['still no image', 'ImagePullBackOff', { vmi: notSynchronized('ImagePullBackOff') }],
  ['import failed', 'DataVolumeError', { vmi: notSynchronized('DataVolumeError') }],
  ['other trouble', 'Starting', { vmi: notSynchronized('FailedCreate') }],
  [
    'provisioning',
    'Provisioning',
    { vmi: vmi({ phase: 'Pending', conditions: [{ type: 'Provisioning', status: 'True' }] }) },
  ],
];

for (const [what, expected, input] of cases)
  test(`${what}: ${expected}`, () => {
    const base: PrintableInput = {
      vm,
      vmi: undefined,
      runStrategy: 'Always',
      requests: [],
      startFailure: undefined,
      stopping: false,
      dataVolumes: { kind: 'ready' },
      waitsForVolumes: false,
    };
    assert.equal(printableStatus({ ...base, ...input }), expected);
  });

test('every word can be reached', () => {
  const reached = new Set(cases.map(([, word]) => word));
  assert.deepEqual(
    printableStatuses.filter((word) => !reached.has(word)),
    [],
  );
});
