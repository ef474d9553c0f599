import assert from 'node:assert/strict';
import test from 'node:test';
import type { KubernetesObject, ListMeta } from '../../openapi/meta.js';
import { causes, machine, machines, mergePatch, startWithNamespace } from '../registry/testing/objects.js';
import { SharedEvents } from './shared-events.js';

interface Event {
  readonly type: string;
  readonly object: KubernetesObject & {
    readonly rows?: { cells: unknown[] }[];
    readonly columnDefinitions?: unknown;
  };
}

const asEvents = (events: unknown[]): Event[] => events as Event[];
const shown = (events: unknown[]): string[] =>
  asEvents(events).map(({ type, object }) => `${type} ${object.metadata.name}`);

test('a watch without a revision starts with what is there', async (t) => {
  const { request, watch } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  const events = await watch(`${machines}?watch=true`, 2, () =>
    request('POST', machines, { body: machine('b') }),
  );
  assert.deepEqual(shown(events), ['ADDED a', 'ADDED b']);
});

test('a watch from a revision shows what came after it', async (t) => {
  const { request, watch } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  const { metadata } = (await request('GET', machines)).body as { metadata: ListMeta };
  await request('PATCH', `${machines}/a`, {
    body: { metadata: { labels: { x: 'y' } } },
    headers: mergePatch,
  });
  await request('DELETE', `${machines}/a`);
  const events = await watch(`${machines}?watch=1&resourceVersion=${metadata.resourceVersion ?? ''}`, 2);
  assert.deepEqual(shown(events), ['MODIFIED a', 'DELETED a']);
});

test('initial events end with a bookmark', async (t) => {
  const { request, watch } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  const query = 'watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan';
  const events = asEvents(await watch(`${machines}?${query}`, 2));
  assert.deepEqual(
    events.map(({ type }) => type),
    ['ADDED', 'BOOKMARK'],
  );
  assert.equal(events[1]?.object.metadata.annotations?.['k8s.io/initial-events-end'], 'true');
});

test('without initial events a watch starts now', async (t) => {
  const { request, watch } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  const query = 'watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan';
  const events = await watch(`${machines}?${query}`, 1, () =>
    request('POST', machines, { body: machine('b') }),
  );
  assert.deepEqual(shown(events), ['ADDED b']);
});

test('only the first table has columns', async (t) => {
  const { request, watch } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  await request('POST', machines, { body: machine('b') });
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const events = asEvents(await watch(`${machines}?watch=1`, 2, undefined, { accept }));
  assert.ok(Array.isArray(events[0]?.object.columnDefinitions));
  assert.equal(events[1]?.object.columnDefinitions, null);
  assert.deepEqual(events[1].object.rows?.[0]?.cells, ['b', '0s', 'Stopped', null]);
});

test('the old path of a watch may name its object', async (t) => {
  const { request, watch } = await startWithNamespace(t);
  for (const name of ['a', 'b']) await request('POST', machines, { body: machine(name) });
  const path = machines.replace('/v1/', '/v1/watch/');
  assert.deepEqual(shown(await watch(`${path}/b`, 1)), ['ADDED b']);
});

test('a watch of metadata', async (t) => {
  const { request, watch } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
  const [event] = asEvents(await watch(`${machines}?watch=1`, 1, undefined, { accept }));
  assert.equal(event?.object.kind, 'PartialObjectMetadata');
  assert.deepEqual(Object.keys(event.object).sort(), ['apiVersion', 'kind', 'metadata']);
});

test('a watch ends after timeoutSeconds', async (t) => {
  const { watch, advance } = await startWithNamespace(t);
  const events = await watch(`${machines}?watch=1&timeoutSeconds=5`, 1, () => {
    advance(5000);
    return Promise.resolve();
  });
  assert.deepEqual(events, []);
});

test('a revision from before the history is told in the stream', async (t) => {
  const { watch } = await startWithNamespace(t, {
    async past(backend) {
      await backend.write({ key: '/other/things/a', expect: 0, value: Buffer.from('{}') });
      const { revision } = await backend.write({
        key: '/other/things/b',
        expect: 0,
        value: Buffer.from('{}'),
      });
      await backend.compact(revision);
    },
  });
  const [event] = (await watch(`${machines}?watch=1&resourceVersion=1`, 1)) as [
    { type: string; object: { code: number; reason: string } },
  ];
  assert.equal(event.type, 'ERROR');
  assert.equal(event.object.code, 410);
  assert.equal(event.object.reason, 'Expired');
});

test('what makes no sense is refused before the stream', async (t) => {
  const { request } = await startWithNamespace(t);
  const refused = await request('GET', `${machines}?watch=1&sendInitialEvents=true`);
  assert.deepEqual(causes(refused), ['FieldValueForbidden resourceVersionMatch']);
  for (const query of ['resourceVersion=x', 'fieldSelector=spec.x%3D1', 'timeoutSeconds=soon']) {
    assert.equal((await request('GET', `${machines}?watch=1&${query}`)).status, 400, query);
  }
});

test('lines are shared, up to a budget', () => {
  const shared = new SharedEvents(10);
  const attributes = { namespace: 'n', name: 'a', uid: 'u', labels: {}, fields: {}, cells: [] };
  const entryOf = (revision: number) => ({ key: '/k', revision, bytes: Buffer.alloc(0), attributes });
  const first = { type: 'ADDED', entry: entryOf(1) } as const;
  const line = shared.line(first, 'v1', () => Buffer.alloc(6));
  assert.equal(
    shared.line(first, 'v1', () => Buffer.alloc(6)),
    line,
  );
  assert.notEqual(
    shared.line({ ...first, type: 'MODIFIED' }, 'v1', () => Buffer.alloc(2)),
    line,
  );
  shared.line({ type: 'ADDED', entry: entryOf(2) }, 'v1', () => Buffer.alloc(6));
  assert.notEqual(
    shared.line(first, 'v1', () => Buffer.alloc(6)),
    line,
  );
});
