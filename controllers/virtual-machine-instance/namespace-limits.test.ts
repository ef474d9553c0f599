import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { ResourceRequirements } from '../../openapi/generated/types/core_v1.js';
import type { LabelSelector, Quantity } from '../../openapi/meta.js';
import { toBytes } from '../../openapi/quantity.js';
import type { Informers } from '../runtime/informers.js';
import { kubeVirts, namespaces, resourceQuotas, virtualMachineInstances } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { Harness, guest } from '../testing/harness.js';
import { createVirtualMachineInstanceController } from './virtual-machine-instance-controller.js';

interface Surroundings {
  /** Of the namespace. */
  readonly labels?: Record<string, string>;
  readonly selector?: LabelSelector;
  readonly hard?: Record<string, Quantity>;
  readonly quotaNamespace?: string;
}

/** A VMI of two processors is started: what its launcher's container asks for, and what is mirrored then. */
async function launch(
  t: TestContext,
  { labels = {}, selector, hard, quotaNamespace = 'default' }: Surroundings,
): Promise<ResourceRequirements & { informers: Informers | undefined }> {
  const harness = new Harness();
  t.after(() => harness.stop());
  const { client } = harness;
  await client.create(namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'default', labels },
  });
  await client.create(kubeVirts, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { namespace: 'nativirt', name: 'kubevirt' },
    spec: {
      configuration: selector === undefined ? {} : { autoCPULimitNamespaceLabelSelector: selector },
    },
  });
  if (hard !== undefined)
    await client.create(resourceQuotas, {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { namespace: quotaNamespace, name: 'limits' },
      spec: { hard },
    });
  let informers: Informers | undefined;
  await harness.start((deps) => {
    informers = deps.informers;
    return createVirtualMachineInstanceController(deps, { launcherImage: 'launcher' });
  });
  await client.create(virtualMachineInstances, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace: 'default', name: 'vm' },
    spec: { ...guest(), domain: { devices: {}, cpu: { cores: 2 }, memory: { guest: '128Mi' } } },
  });
  await settle();
  const [compute] = harness.launcher()?.spec?.containers ?? [];
  assert.ok(compute?.resources);
  return { ...compute.resources, informers };
}

test('a namespace that the selector finds limits processors; another does not', async (t) => {
  const selector = { matchLabels: { limited: 'yes' } };
  assert.deepEqual((await launch(t, { labels: { limited: 'yes' }, selector })).limits, { cpu: '2' });
  assert.equal((await launch(t, { labels: { limited: 'no' }, selector })).limits, undefined);
  assert.deepEqual((await launch(t, { selector: {} })).limits, { cpu: '2' }, 'an empty one finds all');
  const faulty: LabelSelector = { matchExpressions: [{ key: 'limited', operator: 'In', values: [] }] };
  assert.equal((await launch(t, { selector: faulty })).limits, undefined);
});

test('namespaces are not even listed where no selector is configured', async (t) => {
  const { limits, informers } = await launch(t, { labels: { limited: 'yes' } });
  assert.equal(limits, undefined);
  assert.ok(informers);
  assert.equal(informers.existing(namespaces), undefined);
});

test('a quota of limits has its launchers limited, as Kubernetes would refuse them else', async (t) => {
  assert.deepEqual((await launch(t, { hard: { 'limits.cpu': '8' } })).limits, { cpu: '2' });
  const memory = await launch(t, { hard: { 'limits.memory': '8Gi' } });
  assert.deepEqual(Object.keys(memory.limits ?? {}), ['memory']);
  assert.equal(toBytes(memory.limits?.memory ?? 0), 2 * toBytes(memory.requests?.memory ?? 0));
  assert.equal((await launch(t, { hard: { 'requests.cpu': '8', pods: '9' } })).limits, undefined);
  const elsewhere = { hard: { 'limits.cpu': '8' }, quotaNamespace: 'other' };
  assert.equal((await launch(t, elsewhere)).limits, undefined);
});

test('a label of the namespace says how far memory goes beyond the request', async (t) => {
  const hard = { 'limits.memory': '8Gi' };
  for (const [label, ratio] of [
    ['1.5', 1.5],
    ['0.5', 2],
    ['much', 2],
  ] as const) {
    const labels = { 'alpha.kubevirt.io/auto-memory-limits-ratio': label };
    const { requests, limits } = await launch(t, { labels, hard });
    assert.equal(toBytes(limits?.memory ?? 0), Math.floor(ratio * toBytes(requests?.memory ?? 0)), label);
  }
});
