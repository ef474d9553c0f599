import assert from 'node:assert/strict';
import test from 'node:test';
import type { Pod } from '../../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject, ObjectMeta } from '../../../openapi/meta.js';
import { defaultConfiguration } from '../configuration/defaults.js';
import type { AdmissionLookups } from '../interface.js';
import { decideEviction, type EvictionDecision } from './decide.js';

const meta = (name: string, more: Partial<ObjectMeta> = {}): ObjectMeta => ({
  name,
  namespace: 'default',
  uid: `${name}-uid`,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
  ...more,
});

const launcher = (status: Pod['status'] = {}, node = 'node-1'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: meta('virt-launcher-web', {
    labels: { 'kubevirt.io': 'virt-launcher' },
    annotations: { 'kubevirt.io/domain': 'web' },
  }),
  spec: { containers: [], nodeName: node },
  status,
});

const vmi = (
  evictionStrategy: string | undefined,
  status: VirtualMachineInstance['status'] = {},
): VirtualMachineInstance => ({
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: meta('web'),
  spec: { domain: { devices: {} }, ...(evictionStrategy === undefined ? {} : { evictionStrategy }) },
  status: { nodeName: 'node-1', ...status },
});
const migratable = { conditions: [{ type: 'LiveMigratable', status: 'True' }] };

function lookupsOf(...objects: readonly KubernetesObject[]): AdmissionLookups {
  return {
    get: <T extends KubernetesObject>(
      _group: string,
      _resource: string,
      namespace: string | undefined,
      name: string,
    ) =>
      // No two of them have one name.
      Promise.resolve(
        objects.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name) as
          T | undefined,
      ),
    list: () => Promise.resolve([]),
  };
}

const decide = (pod: Pod, ...objects: readonly KubernetesObject[]): Promise<EvictionDecision> =>
  decideEviction(pod, lookupsOf(...objects), defaultConfiguration);

test('the strategy of a VMI says what an eviction of its pod does', async () => {
  const table: readonly (readonly [
    string | undefined,
    VirtualMachineInstance['status'],
    EvictionDecision['action'],
  ])[] = [
    [undefined, migratable, 'allow'],
    ['None', migratable, 'allow'],
    ['LiveMigrate', migratable, 'evacuate'],
    ['LiveMigrate', {}, 'refuse'],
    ['LiveMigrateIfPossible', migratable, 'evacuate'],
    ['LiveMigrateIfPossible', {}, 'allow'],
    ['External', {}, 'evacuate'],
    ['External', { evacuationNodeName: 'node-1' }, 'refuse'],
    ['LiveMigrate', { ...migratable, nodeName: 'node-2' }, 'refuse'],
  ];
  for (const [strategy, status, action] of table) {
    const decision = await decide(launcher(), vmi(strategy, status));
    assert.equal(decision.action, action, `${strategy ?? 'no strategy'} ${JSON.stringify(status)}`);
  }
});

test('without one of its own, a VMI has the strategy of the cluster', async () => {
  const configuration = { ...defaultConfiguration, evictionStrategy: 'LiveMigrate' };
  const decision = await decideEviction(launcher(), lookupsOf(vmi(undefined, migratable)), configuration);
  assert.ok(decision.action === 'evacuate');
  assert.equal(decision.node, 'node-1');
  assert.match(decision.message, /Eviction triggered evacuation of VMI "default\/web"/);
});

test('pods that are no launcher, or have ended, are of no concern', async () => {
  const other: Pod = { ...launcher(), metadata: meta('other') };
  assert.deepEqual(await decide(other, vmi('LiveMigrate')), { action: 'allow' });
  assert.deepEqual(await decide(launcher({ phase: 'Failed' }), vmi('LiveMigrate')), { action: 'allow' });
  assert.equal((await decide(launcher())).action, 'refuse', 'a launcher whose VMI can not be found');
});

test('a pod that holds a disk stays while the guest runs', async () => {
  const hotplug: Pod = {
    ...launcher(),
    metadata: meta('hp-volume', {
      labels: { 'kubevirt.io': 'hotplug-disk' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'virt-launcher-web', uid: 'u' }],
    }),
  };
  assert.equal((await decide(hotplug, launcher(), vmi(undefined))).action, 'refuse');
  assert.equal((await decide(hotplug, launcher({ phase: 'Succeeded' }), vmi(undefined))).action, 'allow');
  assert.equal((await decide(hotplug, launcher())).action, 'allow');
});
