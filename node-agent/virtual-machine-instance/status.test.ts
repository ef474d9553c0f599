import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { DomainState, GuestInfo } from '../../openapi/launcher/protocol.js';
import { findCondition } from '../../controllers/runtime/conditions.js';
import { domainStatus } from '../testing/domain-status.js';
import { nextStatus } from './status.js';

const vmi: VirtualMachineInstance = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name: 'vm', uid: 'uid', resourceVersion: '1', creationTimestamp: '2026-01-02T03:04:05Z' },
  spec: { domain: { devices: {} } },
  status: { phase: 'Scheduled' },
};

function readinessOf(state: DomainState, ready = true): unknown {
  const { conditions } = nextStatus({
    vmi,
    domain: domainStatus({ state }),
    failure: undefined,
    ready,
    now: 0,
    node: { launcherVersion: undefined, runtimeUser: 107 },
    part: undefined,
  });
  const { status, reason } = findCondition(conditions, 'Ready') ?? {};
  return reason === undefined ? status : `${status}: ${reason}`;
}

test('a guest is ready while it runs, its probe succeeds, and it is not paused', () => {
  assert.equal(readinessOf('Running'), 'True');
  assert.equal(readinessOf('Running', false), 'False: ReadinessProbeFailed');
  assert.equal(readinessOf('Paused'), 'False: ReadinessGatesNotReady');
  assert.equal(readinessOf('Shutoff'), 'False: GuestNotRunning');
});

/** A public report on KubeVirt: its parts put the interfaces into two orders in turn, for ever. */
test('with the primary network second, the interfaces stand as in the spec, in whatever order the guest tells them', () => {
  const macs = { blue: '02:00:00:00:00:01', default: '02:00:00:00:00:02' };
  const two: VirtualMachineInstance = {
    ...vmi,
    spec: {
      domain: {
        devices: {
          interfaces: [
            { name: 'blue', bridge: {}, macAddress: macs.blue },
            { name: 'default', masquerade: {}, macAddress: macs.default },
          ],
        },
      },
      networks: [
        { name: 'blue', multus: { networkName: 'blue' } },
        { name: 'default', pod: {} },
      ],
    },
  };
  const told: NonNullable<GuestInfo['interfaces']> = [
    { name: 'eth1', mac: macs.default, addresses: ['10.0.2.2/24'] },
    { name: 'eth0', mac: macs.blue, addresses: ['192.0.2.7/24'] },
  ];
  const after = (status: VirtualMachineInstance['status'], interfaces: typeof told) =>
    nextStatus({
      vmi: { ...two, ...(status === undefined ? {} : { status }) },
      domain: domainStatus({ state: 'Running', guestAgentConnected: true, guest: { interfaces } }),
      failure: undefined,
      ready: true,
      now: 0,
      node: { launcherVersion: undefined, runtimeUser: 107 },
      part: {},
    });
  const first = after(vmi.status, told);
  assert.deepEqual(
    first.interfaces?.map(({ name, interfaceName }) => [name, interfaceName]),
    [
      ['blue', 'eth0'],
      ['default', 'eth1'],
    ],
  );
  assert.deepEqual(after(first, [...told].reverse()), first);
});
