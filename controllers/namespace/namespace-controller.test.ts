import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Namespace } from '../../openapi/generated/types/core_v1.js';
import { findCondition } from '../runtime/conditions.js';
import { configMaps, namespaces, nodes, secrets } from '../runtime/kinds.js';
import { settle } from '../runtime/testing/fake-clock.js';
import { statusError } from '../runtime/testing/status-error.js';
import { discovering } from '../testing/fake-discovery.js';
import { Harness } from '../testing/harness.js';
import { createNamespaceController } from './namespace-controller.js';

async function started(
  t: TestContext,
): Promise<{ harness: Harness; served: ReturnType<typeof discovering> }> {
  const harness = new Harness();
  const served = discovering(configMaps, secrets, nodes);
  t.after(() => harness.stop());
  await harness.client.create(namespaces, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'team' },
    spec: { finalizers: ['kubernetes'] },
  });
  await harness.start((deps) => createNamespaceController(deps, served));
  return { harness, served };
}

/** What the API server does with a DELETE of a namespace. */
async function terminate(harness: Harness): Promise<void> {
  await harness.change(namespaces, 'team', (namespace) => ({
    ...namespace,
    metadata: { ...namespace.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' },
    status: { phase: 'Terminating' as const },
  }));
}

async function make(
  harness: Harness,
  kind: typeof configMaps | typeof secrets,
  name: string,
  namespace = 'team',
): Promise<void> {
  await harness.client.create<{ apiVersion: string; kind: string; metadata: Namespace['metadata'] }>(kind, {
    apiVersion: 'v1',
    kind: kind.kind,
    metadata: { namespace, name },
  });
  await settle();
}

const team = (harness: Harness): Namespace | undefined => harness.client.find(namespaces, { name: 'team' });

test('everything in a namespace is deleted, then the namespace itself; others are not touched', async (t) => {
  const { harness } = await started(t);
  await make(harness, configMaps, 'a');
  await make(harness, secrets, 'b');
  await make(harness, secrets, 'b', 'other');
  await harness.createNode();
  await terminate(harness);
  await harness.clock.advance(2000);
  assert.equal(team(harness), undefined);
  assert.equal(harness.client.all(configMaps).length, 0);
  assert.equal(harness.client.all(secrets).length, 1);
  assert.equal(harness.client.all(nodes).length, 1);
});

test('a namespace that is not being deleted is left alone', async (t) => {
  const { harness } = await started(t);
  await make(harness, configMaps, 'a');
  await harness.clock.advance(60_000);
  assert.equal(harness.client.all(configMaps).length, 1);
});

test('what holds the namespace back is told by name', async (t) => {
  const { harness } = await started(t);
  await make(harness, configMaps, 'a');
  harness.client.put(configMaps, { namespace: 'team', name: 'a' }, (each) => ({
    ...each,
    metadata: { ...each.metadata, finalizers: ['test/hold'] },
  }));
  await terminate(harness);
  await harness.clock.advance(5000);
  const told = team(harness)?.status?.conditions ?? [];
  assert.deepEqual(
    told.map(({ type, status, reason, message }) => [type, status, reason, message]),
    [
      [
        'NamespaceDeletionDiscoveryFailure',
        'False',
        'ResourcesDiscovered',
        'All resources successfully discovered',
      ],
      [
        'NamespaceDeletionGroupVersionParsingFailure',
        'False',
        'ParsedGroupVersions',
        'All legacy kube types successfully parsed',
      ],
      [
        'NamespaceDeletionContentFailure',
        'False',
        'ContentDeleted',
        'All content successfully deleted, may be waiting on finalization',
      ],
      [
        'NamespaceContentRemaining',
        'True',
        'SomeResourcesRemain',
        'Some resources are remaining: configmaps. has 1 resource instances',
      ],
      [
        'NamespaceFinalizersRemaining',
        'True',
        'SomeFinalizersRemain',
        'Some content in the namespace has finalizers remaining: test/hold in 1 resource instances',
      ],
    ],
  );
  const writes = harness.client.writes.length;
  await harness.clock.advance(60_000);
  assert.equal(harness.client.writes.length, writes, 'it is said once');
  harness.client.remove(configMaps, { namespace: 'team', name: 'a' });
  await harness.clock.advance(2000);
  assert.equal(team(harness), undefined);
});

test('a server that can not say what it serves, or refuses a deletion, does not lose the namespace', async (t) => {
  const { harness, served } = await started(t);
  await make(harness, configMaps, 'a');
  served.failing = true;
  await terminate(harness);
  await harness.clock.advance(10_000);
  const state = (type: string): string | undefined =>
    findCondition(team(harness)?.status?.conditions, type)?.status;
  assert.equal(state('NamespaceDeletionDiscoveryFailure'), 'True');
  served.failing = false;
  harness.client.beforeWrite = ({ verb, resource }) => {
    if (verb === 'delete' && resource === 'configmaps') throw statusError('InternalError', configMaps, 'a');
  };
  await harness.clock.advance(10_000);
  assert.equal(state('NamespaceDeletionDiscoveryFailure'), 'False');
  assert.equal(state('NamespaceDeletionContentFailure'), 'True');
  harness.client.beforeWrite = undefined;
  await harness.clock.advance(5000);
  assert.equal(team(harness), undefined);
});
