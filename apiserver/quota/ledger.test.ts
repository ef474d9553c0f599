import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { ResourceQuota } from '../../openapi/generated/types/core_v1.js';
import type { Quantity } from '../../openapi/meta.js';
import { ApiError } from '../errors/api-error.js';
import { QuotaLedger, type NewObject, type QuotaStore } from './ledger.js';

const machines = 'count/virtualmachines.kubevirt.io';

function quota(
  name: string,
  hard: Record<string, Quantity>,
  used: Record<string, Quantity>,
  spec: ResourceQuota['spec'] = {},
): ResourceQuota {
  return {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name, namespace: 'default', uid: name, resourceVersion: '1', creationTimestamp: '' },
    spec: { hard, ...spec },
    status: { hard, used },
  };
}

/** Quotas in memory. `interfere` runs before a write and may write itself. */
class FakeStore implements QuotaStore {
  readonly quotas = new Map<string, ResourceQuota>();
  writes = 0;
  interfere: () => void = () => undefined;

  constructor(...quotas: readonly ResourceQuota[]) {
    for (const each of quotas) this.quotas.set(each.metadata.name, each);
  }

  seen(namespace: string): readonly ResourceQuota[] {
    return [...this.quotas.values()].filter(({ metadata }) => metadata.namespace === namespace);
  }

  get(_namespace: string, name: string): Promise<ResourceQuota | undefined> {
    return Promise.resolve(this.quotas.get(name));
  }

  updateStatus(written: ResourceQuota): Promise<boolean> {
    this.interfere();
    const { name, resourceVersion } = written.metadata;
    if (this.quotas.get(name)?.metadata.resourceVersion !== resourceVersion) return Promise.resolve(false);
    this.writes++;
    this.put(written);
    return Promise.resolve(true);
  }

  put(written: ResourceQuota): void {
    const { metadata } = written;
    const resourceVersion = String(Number(metadata.resourceVersion) + 1);
    this.quotas.set(metadata.name, { ...written, metadata: { ...metadata, resourceVersion } });
  }

  used(name: string): Quantity | undefined {
    return this.quotas.get(name)?.status?.used?.[machines];
  }
}

const machine: NewObject = {
  group: 'kubevirt.io',
  resource: 'virtualmachines',
  namespace: 'default',
  name: 'vm',
  dryRun: false,
};

async function refusal(ledger: QuotaLedger, object: NewObject = machine): Promise<string | undefined> {
  try {
    await ledger.charge(object);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return `${error.code} ${error.message}`;
  }
}

test('an object counts until there is no room', async () => {
  const store = new FakeStore(quota('q', { [machines]: '2' }, { [machines]: '1' }));
  const ledger = new QuotaLedger(store);
  assert.equal(await refusal(ledger, { ...machine, dryRun: true }), undefined);
  assert.equal(store.used('q'), '1', 'a dry run does not count');
  assert.equal(await refusal(ledger), undefined);
  assert.equal(store.used('q'), '2');
  const full = `403 virtualmachines.kubevirt.io "vm" is forbidden: exceeded quota: q, requested: ${machines}=1, used: ${machines}=2, limited: ${machines}=2`;
  assert.equal(await refusal(ledger), full);
  assert.equal(await refusal(ledger, { ...machine, dryRun: true }), full);
});

test('quotas of other things, with scopes, or of other namespaces do not matter', async () => {
  const none = { [machines]: '0' };
  const selector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Exists' }] } as const;
  const store = new FakeStore(
    quota('pods', { pods: '0' }, { pods: '0' }),
    quota('scoped', none, none, { scopes: ['BestEffort'] }),
    quota('selected', none, none, { scopeSelector: { matchExpressions: [...selector.matchExpressions] } }),
    { ...quota('uncounted', none, none), status: {} },
  );
  assert.equal(await refusal(new QuotaLedger(store)), undefined);
  const elsewhere = new QuotaLedger(new FakeStore(quota('q', none, none)));
  assert.equal(await refusal(elsewhere, { ...machine, namespace: 'other' }), undefined);
  assert.equal(store.writes, 0);
});

test('a quota whose use is not known yet lets nothing in', async () => {
  const ledger = new QuotaLedger(new FakeStore(quota('q', { [machines]: '5' }, {})));
  assert.match(
    (await refusal(ledger)) ?? '',
    /status unknown for quota: q, resources: count\/virtualmachines/,
  );
});

test('somebody else may change a quota meanwhile', async () => {
  const store = new FakeStore(
    quota('other', { [machines]: '9' }, { [machines]: '0' }),
    quota('q', { [machines]: '3' }, { [machines]: '1' }),
  );
  const ledger = new QuotaLedger(store);
  const count = (used: string): void => {
    store.put({
      ...quota('q', { [machines]: '3' }, { [machines]: used }),
      metadata: store.quotas.get('q')?.metadata ?? quota('q', {}, {}).metadata,
    });
  };
  let interferences = 1;
  store.interfere = () => {
    if (interferences-- > 0) count('2');
  };
  assert.equal(await refusal(ledger), undefined);
  assert.deepEqual([store.used('q'), store.used('other')], ['3', '1'], 'nothing is charged twice');
  store.interfere = () => {
    count('1');
  };
  count('1');
  assert.match((await refusal(ledger)) ?? '', /^409 Operation cannot be fulfilled on resourcequotas "q"/);
});

test('a quota that is deleted meanwhile lets the object in', async () => {
  const store = new FakeStore(quota('q', { [machines]: '3' }, { [machines]: '1' }));
  store.interfere = () => store.quotas.delete('q');
  assert.equal(await refusal(new QuotaLedger(store)), undefined);
});

test('what can not be counted is not let in, and the next is tried again', async () => {
  const store = new FakeStore(quota('q', { [machines]: '3' }, { [machines]: '1' }));
  const ledger = new QuotaLedger(store);
  store.interfere = () => {
    throw new Error('connection refused');
  };
  await assert.rejects(ledger.charge(machine), /connection refused/);
  store.interfere = () => undefined;
  assert.equal(await refusal(ledger), undefined);
});

test('however many come at once, as many are let in as there is room for, with few writes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(8), fc.nat(8), fc.nat(8), async (coming, room, other) => {
      const store = new FakeStore(
        quota('a', { [machines]: room }, { [machines]: 0 }),
        quota('b', { [machines]: other }, { [machines]: 0 }),
      );
      const ledger = new QuotaLedger(store);
      const outcomes = await Promise.all(Array.from({ length: coming }, () => refusal(ledger)));
      const admitted = outcomes.filter((each) => each === undefined).length;
      assert.equal(admitted, Math.min(coming, room, other));
      assert.equal(Number(store.used('a')), admitted);
      assert.equal(Number(store.used('b')), admitted);
      // The first is charged alone, and all that came meanwhile together.
      assert.ok(store.writes <= 4);
    }),
  );
});
