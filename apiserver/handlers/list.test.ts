import assert from 'node:assert/strict';
import test from 'node:test';
import type { KubernetesObject, ListMeta } from '../../openapi/meta.js';
import type { Answer } from '../registry/testing/fixture.js';
import {
  asStatus,
  causes,
  machine,
  machines,
  mergePatch,
  startWithNamespace,
} from '../registry/testing/objects.js';

interface List {
  readonly kind: string;
  readonly metadata: ListMeta;
  readonly items: readonly KubernetesObject[];
}

const asList = ({ body }: Answer): List => body as List;
const names = (answer: Answer): string[] => asList(answer).items.map(({ metadata }) => metadata.name);
const all = '/apis/kubevirt.io/v1/virtualmachines';

async function start(t: test.TestContext, count: number): ReturnType<typeof startWithNamespace> {
  const fixture = await startWithNamespace(t);
  for (let i = 0; i < count; i++) {
    const labels = { i: String(i), even: String(i % 2 === 0) };
    await fixture.request('POST', machines, { body: machine(`m${i}`, { labels }) });
  }
  return fixture;
}

test('pages show one snapshot, and say how many objects follow', async (t) => {
  const { request } = await start(t, 5);
  const first = asList(await request('GET', `${machines}?limit=2`));
  assert.equal(first.metadata.remainingItemCount, 3);
  await request('DELETE', `${machines}/m3`);
  await request('POST', machines, { body: machine('m2a') });
  const token = encodeURIComponent(first.metadata.continue ?? '');
  const second = await request('GET', `${machines}?limit=2&continue=${token}`);
  assert.deepEqual(names(second), ['m2', 'm3']);
  assert.equal(asList(second).metadata.resourceVersion, first.metadata.resourceVersion);
  const rest = encodeURIComponent(asList(second).metadata.continue ?? '');
  const third = await request('GET', `${machines}?limit=2&continue=${rest}`);
  assert.deepEqual(names(third), ['m4']);
  assert.equal(asList(third).metadata.continue, '');
});

test('a list of whatever state is at hand is whole', async (t) => {
  const { request } = await start(t, 3);
  const list = await request('GET', `${machines}?limit=2&resourceVersion=0`);
  assert.deepEqual(names(list), ['m0', 'm1', 'm2']);
  assert.equal((await request('GET', `${machines}?timeoutSeconds=soon`)).status, 400);
});

test('pages of a selection are full', async (t) => {
  const { request } = await start(t, 6);
  const first = await request('GET', `${machines}?limit=2&labelSelector=even%3Dtrue`);
  assert.deepEqual(names(first), ['m0', 'm2']);
  assert.equal(asList(first).metadata.remainingItemCount, undefined);
  const token = encodeURIComponent(asList(first).metadata.continue ?? '');
  const second = await request('GET', `${machines}?limit=2&labelSelector=even%3Dtrue&continue=${token}`);
  assert.deepEqual(names(second), ['m4']);
});

test('every state can be asked for', async (t) => {
  const { request } = await start(t, 2);
  const then = asList(await request('GET', machines)).metadata.resourceVersion ?? '';
  await request('POST', machines, { body: machine('m2') });
  const at = async (query: string): Promise<string[]> => names(await request('GET', `${machines}?${query}`));
  assert.deepEqual(await at(`resourceVersion=${then}&resourceVersionMatch=Exact`), ['m0', 'm1']);
  assert.deepEqual(await at(`resourceVersion=${then}&resourceVersionMatch=NotOlderThan`), ['m0', 'm1', 'm2']);
  assert.deepEqual(await at(`resourceVersion=${then}`), ['m0', 'm1', 'm2']);
  assert.deepEqual(await at(`resourceVersion=${then}&limit=9`), ['m0', 'm1']);
  assert.deepEqual(await at('resourceVersion=0'), ['m0', 'm1', 'm2']);
});

test('a state that no server had is refused', async (t) => {
  const { request } = await start(t, 1);
  const refused = async (query: string, status: number): Promise<void> => {
    assert.equal((await request('GET', `${machines}?${query}`)).status, status, query);
  };
  await refused('resourceVersion=abc', 400);
  await refused('resourceVersion=-1', 400);
  await refused('resourceVersion=1&resourceVersionMatch=Sometimes', 422);
  await refused('resourceVersionMatch=Exact', 422);
  await refused('resourceVersion=0&resourceVersionMatch=Exact', 422);
  await refused('sendInitialEvents=true', 422);
  await refused('limit=-1', 400);
  await refused('limit=many', 400);
  await refused('continue=nonsense', 400);
  await refused('labelSelector=a+in+(', 400);
  await refused('fieldSelector=spec.colour%3Dred', 400);
});

test('a page of a snapshot that is gone can be continued without it', async (t) => {
  const { request } = await start(t, 3);
  const token = (rv: number): string =>
    Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start: 'n/m0' })).toString('base64url');
  const latest = await request('GET', `${machines}?continue=${token(-1)}`);
  assert.deepEqual(names(latest), ['m1', 'm2']);
  assert.equal((await request('GET', `${machines}?continue=${token(0)}`)).status, 400);
  const forbidden = await request('GET', `${machines}?continue=${token(2)}&resourceVersionMatch=Exact`);
  assert.deepEqual(causes(forbidden), ['FieldValueForbidden resourceVersionMatch']);
});

test('fields select', async (t) => {
  const { request } = await start(t, 3);
  const body = { spec: { runStrategy: 'Always' } };
  await request('PATCH', `${machines}/m1`, { body, headers: mergePatch });
  const by = async (path: string, selector: string): Promise<string[]> =>
    names(await request('GET', `${path}?fieldSelector=${encodeURIComponent(selector)}`));
  assert.deepEqual(await by(machines, 'spec.runStrategy=Always'), ['m1']);
  assert.deepEqual(await by(machines, 'spec.runStrategy!=Always,metadata.name!=m0'), ['m2']);
  assert.deepEqual(await by(all, 'metadata.namespace=n,metadata.name=m0'), ['m0']);
  assert.deepEqual(await by(all, 'metadata.namespace=elsewhere'), []);
});

test('tables hold cells, and as much of the object as was asked for', async (t) => {
  const { request, advance } = await start(t, 2);
  advance(65_000);
  const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
  const firstRow = async (
    query: string,
  ): Promise<{ cells: unknown[]; object: object | null } | undefined> => {
    const { body } = await request('GET', `${machines}${query}`, { headers });
    return (body as { rows: { cells: unknown[]; object: object | null }[] }).rows[0];
  };
  const row = await firstRow('');
  assert.deepEqual(row?.cells, ['m0', '65s', 'Stopped', null]);
  assert.deepEqual(Object.keys(row.object ?? {}), ['kind', 'apiVersion', 'metadata']);
  const whole = await firstRow('?includeObject=Object');
  assert.ok('spec' in (whole?.object ?? {}));
  assert.equal((await firstRow('?includeObject=None'))?.object, null);
});

test('metadata alone, YAML, and indented JSON', async (t) => {
  const { request } = await start(t, 1);
  const metadata = await request('GET', machines, {
    headers: { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
  });
  assert.equal(asList(metadata).kind, 'PartialObjectMetadataList');
  assert.deepEqual(Object.keys(asList(metadata).items[0] ?? {}).sort(), ['apiVersion', 'kind', 'metadata']);
  const yaml = await request('GET', `${machines}/m0`, { headers: { accept: 'application/yaml' } });
  assert.equal(yaml.contentType, 'application/yaml');
  assert.match(String(yaml.body), /^kind: VirtualMachine\n/);
  const { reply } = await (await start(t, 1)).reply('GET', `${machines}/m0?pretty=true`);
  assert.ok(reply.kind === 'bytes' && Buffer.concat(reply.chunks).toString().startsWith('{\n  "kind"'));
  const refused = await request('GET', machines, { headers: { accept: 'text/csv' } });
  assert.equal(asStatus(refused).reason, 'NotAcceptable');
});

test('an empty list is a list', async (t) => {
  const { request } = await startWithNamespace(t);
  const answer = asList(await request('GET', machines));
  assert.deepEqual(answer.items, []);
  assert.equal(answer.kind, 'VirtualMachineList');
});
