import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import type { DomainState } from '../../openapi/launcher/protocol.js';
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
