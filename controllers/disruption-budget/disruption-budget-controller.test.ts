import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { VirtualMachineInstanceStatus } from '../../openapi/generated/types/kubevirt_v1.js';
import { kubeVirts, podDisruptionBudgets, virtualMachineInstances } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { Harness, guest } from '../testing/harness.js';
import { createDisruptionBudgetController } from './disruption-budget-controller.js';

const key = { namespace: 'default', name: 'vm' };
const migratable = { conditions: [{ type: 'LiveMigratable', status: 'True' }] };

async function started(t: TestContext, evictionStrategy?: string): Promise<Harness> {
  const harness = new Harness();
  t.after(() => harness.stop());
  await harness.start(createDisruptionBudgetController);
  await harness.client.create(virtualMachineInstances, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { ...key, finalizers: ['kubevirt.io/foregroundDeleteVirtualMachine'] },
    spec: { ...guest(), ...(evictionStrategy === undefined ? {} : { evictionStrategy }) },
  });
  await harness.setStatus(virtualMachineInstances, 'vm', { phase: 'Running' });
  return harness;
}

const budgets = (harness: Harness) => harness.client.all(podDisruptionBudgets);
const tell = (harness: Harness, status: VirtualMachineInstanceStatus) =>
  harness.setStatus(virtualMachineInstances, 'vm', status);

test('the strategy says which VMIs have a budget', async (t) => {
  const table = [
    [undefined, {}, 0],
    ['None', migratable, 0],
    ['External', {}, 1],
    ['LiveMigrate', {}, 1],
    ['LiveMigrateIfPossible', {}, 0],
    ['LiveMigrateIfPossible', migratable, 1],
  ] as const;
  for (const [strategy, status, count] of table) {
    const harness = await started(t, strategy);
    await tell(harness, { conditions: [...('conditions' in status ? status.conditions : [])] });
    assert.equal(budgets(harness).length, count, `${strategy ?? 'no strategy'} ${JSON.stringify(status)}`);
  }
});

test('a budget keeps the one pod of its VMI, and both while it migrates', async (t) => {
  const harness = await started(t, 'LiveMigrate');
  const [budget] = budgets(harness);
  const uid = harness.vmi()?.metadata.uid ?? '';
  assert.equal(budget?.metadata.name, `kubevirt-disruption-budget-${uid}`);
  assert.equal(budget.metadata.ownerReferences?.[0]?.uid, uid);
  assert.deepEqual(budget.spec, {
    minAvailable: 1,
    selector: { matchLabels: { 'kubevirt.io/created-by': uid } },
  });
  await tell(harness, { migrationState: { startTimestamp: '2026-01-02T03:04:05Z' } });
  assert.equal(budgets(harness)[0]?.spec?.minAvailable, 2);
  await tell(harness, { migrationState: { startTimestamp: '2026-01-02T03:04:05Z', completed: true } });
  assert.equal(budgets(harness)[0]?.spec?.minAvailable, 1);
});

test('it is made once, made again if somebody deletes it, and goes when its VMI ends or is deleted', async (t) => {
  const harness = await started(t, 'External');
  const writes = (): string[] => harness.writesOf(podDisruptionBudgets);
  await tell(harness, { nodeName: 'node1' });
  assert.deepEqual(writes(), ['create']);
  const [budget] = budgets(harness);
  assert.ok(budget);
  harness.client.remove(podDisruptionBudgets, budget.metadata);
  await settle();
  assert.deepEqual(writes(), ['create', 'create']);
  await harness.stop();
  await harness.start(createDisruptionBudgetController);
  assert.deepEqual(writes(), ['create', 'create'], 'a new process finds it');
  await tell(harness, { phase: 'Succeeded' });
  assert.equal(budgets(harness).length, 0);
  await tell(harness, { phase: 'Running' });
  await harness.client.delete(virtualMachineInstances, key);
  await settle();
  assert.equal(budgets(harness).length, 0);
});

test('the strategy of the cluster counts where a VMI has none, also when it changes', async (t) => {
  const harness = await started(t);
  await harness.client.create(kubeVirts, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { namespace: 'default', name: 'kubevirt' },
    spec: { configuration: { evictionStrategy: 'LiveMigrate' } },
  });
  await settle();
  assert.equal(budgets(harness).length, 1);
  await harness.change(kubeVirts, 'kubevirt', (each) => ({
    ...each,
    spec: { configuration: { evictionStrategy: 'None' } },
  }));
  assert.equal(budgets(harness).length, 0);
});
