import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import { SharedInformer, controllerIndex, namespaceIndex } from './informer.js';
import { Informers } from './informers.js';
import { pods } from './kinds.js';
import { FakeClient } from './testing/fake-client.js';
import { FakeClock, settle } from './testing/fake-clock.js';
import { SilentLogger } from './testing/silent-logger.js';

function newPod(
  name: string,
  extra: Partial<Pod['metadata']> = {},
): Omit<Pod, 'metadata'> & {
  metadata: Partial<Pod['metadata']>;
} {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'default', name, ...extra } };
}

function start(t: TestContext) {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const logger = new SilentLogger();
  const informer = new SharedInformer({ client, kind: pods, clock, logger });
  const stop = new AbortController();
  t.after(() => {
    stop.abort();
  });
  const run = (): Promise<void> => informer.run(stop.signal);
  return { client, informer, logger, run, stop };
}

test('indexes follow additions, changes and deletions', async (t) => {
  const { client, informer, run } = start(t);
  informer.addIndex('node', ({ spec }) => (spec?.nodeName === undefined ? [] : [spec.nodeName]));
  void run();
  const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'owner', controller: true };
  await client.create(pods, newPod('a', { ownerReferences: [owner] }));
  await settle();
  const names = (index: string, value: string): string[] =>
    informer.byIndex(index, value).map(({ metadata }) => metadata.name);
  assert.deepEqual(names(controllerIndex, 'owner'), ['a']);
  assert.deepEqual(names(namespaceIndex, 'default'), ['a']);
  assert.deepEqual(names('node', 'n1'), []);
  const key = { namespace: 'default', name: 'a' };
  client.put(pods, key, (pod) => ({ ...pod, spec: { containers: [], nodeName: 'n1' } }));
  await settle();
  assert.deepEqual(names('node', 'n1'), ['a']);
  client.remove(pods, key);
  await settle();
  assert.deepEqual(names('node', 'n1'), []);
  assert.deepEqual(names(controllerIndex, 'owner'), []);
  assert.throws(() => informer.byIndex('nonsense', 'x'), /no index nonsense/);
});

test('a late handler gets what is there already; one that fails does not disturb the others', async (t) => {
  const { client, informer, logger, run } = start(t);
  await client.create(pods, newPod('a'));
  void run();
  await settle();
  informer.addHandler({
    add: () => {
      throw new Error('broken handler');
    },
  });
  const seen: string[] = [];
  const remove = informer.addHandler({ add: ({ metadata }) => seen.push(metadata.name) });
  await client.create(pods, newPod('b'));
  await settle();
  remove();
  await client.create(pods, newPod('c'));
  await settle();
  assert.deepEqual(seen, ['a', 'b']);
  assert.equal(logger.problems.filter(({ level }) => level === 'error').length, 3);
});

test('synced waits for the first list, and gives up with its signal', async (t) => {
  const { informer, run } = start(t);
  const impatient = new AbortController();
  const rejected = assert.rejects(informer.synced(impatient.signal), /given up/);
  impatient.abort(new Error('given up'));
  await rejected;
  const synced = informer.synced(new AbortController().signal);
  void run();
  await synced;
  assert.equal(informer.hasSynced, true);
});

test('managedFields are not kept', async (t) => {
  const { client, informer, run } = start(t);
  await client.create(pods, newPod('a', { managedFields: [] }));
  void run();
  await settle();
  assert.equal(informer.get('default/a')?.metadata.managedFields, undefined);
});

test('informers of one kind and scope are shared; one asked for late runs at once', async (t) => {
  const clock = new FakeClock();
  const client = new FakeClient(clock);
  const informers = new Informers({ client, clock, logger: new SilentLogger() });
  const stop = new AbortController();
  const all = informers.get(pods);
  assert.equal(informers.get(pods), all);
  assert.equal(informers.existing(pods), all);
  const running = informers.run(stop.signal);
  const some = informers.get(pods, { labelSelector: 'a=b' });
  assert.notEqual(some, all);
  await client.create(pods, newPod('a'));
  await client.create(pods, newPod('b', { labels: { a: 'b' } }));
  await settle();
  assert.equal(all.size, 2);
  assert.equal(some.size, 1);
  t.after(() => {
    stop.abort();
  });
  stop.abort();
  await running;
});
