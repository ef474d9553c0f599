import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type {
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { ControllerDependencies } from '../dependencies.js';
import { findCondition } from '../runtime/conditions.js';
import { persistentVolumeClaims, pods, virtualMachineInstances } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { statusError } from '../runtime/testing/status-error.js';
import { Harness, guest } from '../testing/harness.js';
import { createVirtualMachineInstanceController } from './virtual-machine-instance-controller.js';

const create = (deps: ControllerDependencies) =>
  createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' });
const key = { namespace: 'default', name: 'vm' };

async function createVmi(harness: Harness, spec: Partial<VirtualMachineInstanceSpec> = {}): Promise<void> {
  await harness.client.create(virtualMachineInstances, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { ...key, finalizers: ['kubevirt.io/foregroundDeleteVirtualMachine'] },
    spec: { ...guest(), ...spec },
  });
  await settle();
}

async function started(t: TestContext, spec: Partial<VirtualMachineInstanceSpec> = {}): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start(create);
  await createVmi(harness, spec);
  return harness;
}

const phase = (harness: Harness): string | undefined => harness.vmi()?.status?.phase;
const condition = (harness: Harness, type: string) => findCondition(harness.vmi()?.status?.conditions, type);
const podName = (harness: Harness): string => harness.launcher()?.metadata.name ?? '';

async function running(t: TestContext): Promise<Harness> {
  const harness = await started(t);
  await harness.bindAndRun();
  await harness.startGuest();
  return harness;
}

test('phases follow the pod, each with the time it was entered', async (t) => {
  const harness = await started(t);
  assert.equal(phase(harness), 'Scheduling');
  await harness.clock.advance(2000);
  await harness.bind();
  assert.equal(phase(harness), 'Scheduling');
  await harness.startPod();
  assert.equal(phase(harness), 'Scheduled');
  const { status } = harness.vmi() ?? {};
  assert.equal(status?.nodeName, 'node1');
  assert.deepEqual(status.activePods, { [harness.launcher()?.metadata.uid ?? '']: 'node1' });
  assert.deepEqual(status.phaseTransitionTimestamps, [
    { phase: 'Pending', phaseTransitionTimestamp: '2026-01-02T03:04:05Z' },
    { phase: 'Scheduling', phaseTransitionTimestamp: '2026-01-02T03:04:05Z' },
    { phase: 'Scheduled', phaseTransitionTimestamp: '2026-01-02T03:04:07Z' },
  ]);
  assert.equal(condition(harness, 'Ready')?.reason, 'GuestNotRunning');
});

test('the status tells what the guest will see', async (t) => {
  const harness = await started(t, {
    domain: { devices: {}, cpu: { cores: 2, sockets: 3 }, memory: { guest: '256Mi' } },
  });
  const { currentCPUTopology, memory } = harness.vmi()?.status ?? {};
  assert.deepEqual(currentCPUTopology, { cores: 2, sockets: 3, threads: 1 });
  assert.equal(memory?.guestAtBoot, '256Mi');
  assert.ok(memory.memoryOverhead);
});

test('once it is handed over, the controller writes nothing while all is well', async (t) => {
  const harness = await running(t);
  const before = harness.client.writes.length;
  await harness.change(pods, podName(harness), (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, x: 'y' } },
  }));
  await harness.stop();
  await harness.start(create);
  await harness.clock.advance(60_000);
  assert.equal(harness.client.writes.length, before);
});

test('a missing claim is said so, and the pod comes when the claim does', async (t) => {
  const volumes = [{ name: 'root', persistentVolumeClaim: { claimName: 'data' } }];
  const harness = await started(t, { volumes });
  assert.equal(phase(harness), 'Pending');
  assert.equal(condition(harness, 'Synchronized')?.reason, 'FailedPvcNotFound');
  assert.match(condition(harness, 'Synchronized')?.message ?? '', /volume root: .* data does not exist/);
  assert.deepEqual(harness.reasons, ['FailedPvcNotFound']);
  await harness.client.create(persistentVolumeClaims, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name: 'data' },
    spec: { resources: { requests: { storage: '1Gi' } } },
  });
  await settle();
  assert.equal(phase(harness), 'Scheduling');
  assert.equal(condition(harness, 'Synchronized'), undefined);
  assert.deepEqual(harness.vmi()?.status?.volumeStatus, [
    {
      name: 'root',
      target: '',
      persistentVolumeClaimInfo: {
        claimName: 'data',
        volumeMode: 'Filesystem',
        requests: { storage: '1Gi' },
      },
    },
  ]);
});

test('a pod that is refused shows as FailedCreate, and is tried again', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  harness.client.beforeWrite = ({ resource }) => {
    if (resource === 'pods') throw statusError('Forbidden', pods, 'x', 'exceeded quota: memory');
  };
  await harness.start(create);
  await createVmi(harness);
  assert.equal(condition(harness, 'Synchronized')?.reason, 'FailedCreate');
  assert.match(condition(harness, 'Synchronized')?.message ?? '', /exceeded quota/);
  assert.deepEqual([...new Set(harness.reasons)], ['FailedCreate']);
  harness.client.beforeWrite = undefined;
  await harness.clock.advance(1000);
  assert.equal(phase(harness), 'Scheduling');
  assert.equal(condition(harness, 'Synchronized'), undefined);
});

test('a pod that no node takes and one whose image can not be pulled are said so, and taken back', async (t) => {
  const harness = await started(t);
  const unschedulable = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: '0/1 nodes are available',
  };
  await harness.setStatus(pods, podName(harness), { conditions: [unschedulable] });
  assert.equal(condition(harness, 'PodScheduled')?.message, '0/1 nodes are available');
  await harness.bind();
  const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
  await harness.setStatus(pods, podName(harness), {
    conditions: [],
    containerStatuses: [
      { name: 'volumeroot', image: '', imageID: '', ready: false, restartCount: 0, state: { waiting } },
    ],
  });
  assert.equal(condition(harness, 'PodScheduled'), undefined);
  assert.equal(condition(harness, 'Synchronized')?.reason, 'ImagePullBackOff');
  await harness.startPod();
  assert.equal(condition(harness, 'Synchronized'), undefined);
  assert.equal(phase(harness), 'Scheduled');
});

test('a pod that ends before its guest was given to it fails the VMI', async (t) => {
  const harness = await started(t);
  await harness.setStatus(pods, podName(harness), {
    phase: 'Failed',
    reason: 'Evicted',
    message: 'the node is full',
  });
  assert.equal(phase(harness), 'Failed');
  assert.equal(harness.vmi()?.status?.reason, 'Evicted');
  assert.match(condition(harness, 'Ready')?.message ?? '', /the node is full/);
});

test('a pod that vanishes while it is being placed fails the VMI', async (t) => {
  const harness = await started(t);
  await harness.removePod();
  assert.equal(phase(harness), 'Failed');
});

test('the node agent has ten seconds to say how a guest ended', async (t) => {
  const harness = await running(t);
  await harness.setStatus(pods, podName(harness), { phase: 'Succeeded' });
  await harness.clock.advance(5000);
  assert.equal(phase(harness), 'Running');
  await harness.endGuest('Succeeded');
  await harness.clock.advance(60_000);
  assert.equal(phase(harness), 'Succeeded');
});

test('if it does not, or the pod is gone, the VMI has failed', async (t) => {
  const harness = await running(t);
  await harness.removePod();
  await harness.clock.advance(9000);
  assert.equal(phase(harness), 'Running');
  assert.equal(condition(harness, 'Ready')?.reason, 'PodNotExists');
  await harness.clock.advance(1000);
  assert.equal(phase(harness), 'Failed');
  assert.equal(harness.vmi()?.status?.reason, 'PodNotExists');
});

test('a silent node makes its VMI unready, and ready again when it is back', async (t) => {
  const harness = await running(t);
  const ready = { type: 'Ready', status: 'False', reason: 'NodeNotReady', message: 'silent' };
  await harness.setStatus(pods, podName(harness), { conditions: [ready] });
  assert.equal(condition(harness, 'Ready')?.reason, 'NodeNotReady');
  await harness.setStatus(pods, podName(harness), { conditions: [{ type: 'Ready', status: 'True' }] });
  assert.equal(condition(harness, 'Ready')?.status, 'True');
});

test('a deleted VMI asks its pod to end in time, and goes after it', async (t) => {
  const harness = await running(t);
  const before = harness.writesOf(virtualMachineInstances).length;
  await harness.client.delete(virtualMachineInstances, key);
  await settle();
  const deletion = harness.client.writes.find(
    ({ verb, resource }) => verb === 'delete' && resource === 'pods',
  );
  assert.equal((deletion?.body as { gracePeriodSeconds?: number }).gracePeriodSeconds, 45);
  assert.ok(harness.launcher()?.metadata.deletionTimestamp);
  assert.ok(harness.vmi());
  await harness.removePod();
  assert.deepEqual(harness.writesOf(virtualMachineInstances).slice(before), ['delete', 'patch']);
  assert.equal(harness.vmi(), undefined);
});

test('a grace period that is cut short is passed on', async (t) => {
  const harness = await running(t);
  await harness.client.delete(virtualMachineInstances, key);
  await settle();
  await harness.change(pods, podName(harness), (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, deletionGracePeriodSeconds: 45 },
  }));
  await harness.change(virtualMachineInstances, 'vm', (vmi) => ({
    ...vmi,
    spec: { ...vmi.spec, terminationGracePeriodSeconds: 0 },
  }));
  const graces = harness.client.writes
    .filter(({ verb, resource }) => verb === 'delete' && resource === 'pods')
    .map(({ body }) => (body as { gracePeriodSeconds?: number }).gracePeriodSeconds);
  assert.deepEqual(graces, [45, 15]);
});

test('a VMI that is deleted while its pod starts is never handed to the node', async (t) => {
  const harness = await started(t);
  await harness.bind();
  harness.client.beforeWrite = ({ verb, resource }) => {
    if (verb === 'delete' && resource === 'pods') throw statusError('InternalError', pods);
  };
  await harness.client.delete(virtualMachineInstances, key);
  await settle();
  await harness.startPod();
  assert.equal(phase(harness), 'Scheduling');
});

test('a VMI that was deleted before it had a pod goes at once', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  await createVmi(harness);
  await harness.client.delete(virtualMachineInstances, key);
  await harness.start(create);
  assert.equal(harness.vmi(), undefined);
  assert.deepEqual(harness.writesOf(pods), []);
});

test('a VMI of the same name gets a pod of its own', async (t) => {
  const harness = await running(t);
  const before = podName(harness);
  await harness.client.delete(virtualMachineInstances, key);
  await settle();
  await harness.removePod();
  await createVmi(harness);
  assert.notEqual(podName(harness), before);
  assert.equal(phase(harness), 'Scheduling');
});

test('killed between the pod and the status, it carries on with the pod that is there', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  const starting = harness.start(create);
  harness.killAfter(1);
  await starting;
  await createVmi(harness);
  assert.equal(harness.client.all(pods).length, 1);
  assert.equal(phase(harness), undefined);
  await harness.start(create);
  assert.equal(harness.client.all(pods).length, 1);
  assert.equal(phase(harness), 'Scheduling');
});

test('a pod of its name that belongs to nobody is not taken', async (t) => {
  const harness = new Harness();
  t.after(() => harness.stop());
  await createVmi(harness);
  let squatted = false;
  harness.client.beforeWrite = ({ verb, resource, body }) => {
    if (verb !== 'create' || resource !== 'pods' || squatted) return;
    squatted = true;
    const { namespace, name } = (body as Pod).metadata;
    void harness.client.create(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name } });
    return settle();
  };
  await harness.start(create);
  await settle();
  assert.equal(condition(harness, 'Synchronized')?.reason, 'FailedCreate');
  assert.match(condition(harness, 'Synchronized')?.message ?? '', /AlreadyExists/);
});

test('a change of the node agent at the same time is kept', async (t) => {
  const harness = await started(t);
  await harness.bind();
  let disturbed = false;
  harness.client.beforeWrite = ({ subresource }) => {
    if (subresource !== 'status' || disturbed) return;
    disturbed = true;
    harness.client.put(virtualMachineInstances, key, (vmi: VirtualMachineInstance) => ({
      ...vmi,
      status: { ...vmi.status, launcherContainerImageVersion: 'v9' },
    }));
  };
  await harness.startPod();
  await harness.clock.advance(1000);
  assert.ok(disturbed);
  assert.equal(phase(harness), 'Scheduled');
  assert.equal(harness.vmi()?.status?.launcherContainerImageVersion, 'v9');
});
