import assert from 'node:assert/strict';
import test from 'node:test';
import {
  applyPatch,
  asMachine,
  asStatus,
  jsonPatch,
  machine,
  machines,
  mergePatch,
  startWithNamespace,
} from '../registry/testing/objects.js';
import { applyJsonPatch, readOperations } from './json-patch.js';

test('a JSON patch changes all or nothing', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a', { labels: { a: '1' } }) });
  const body = [
    { op: 'test', path: '/metadata/labels/a', value: '1' },
    { op: 'add', path: '/metadata/labels/b', value: '2' },
    { op: 'replace', path: '/spec/runStrategy', value: 'Always' },
  ];
  const patched = asMachine(await request('PATCH', `${machines}/a`, { body, headers: jsonPatch }));
  assert.deepEqual(patched.metadata.labels, { a: '1', b: '2' });
  const failing = [
    { op: 'remove', path: '/metadata/labels/b' },
    { op: 'test', path: '/x', value: 1 },
  ];
  const refused = await request('PATCH', `${machines}/a`, { body: failing, headers: jsonPatch });
  assert.equal(refused.status, 422);
  assert.deepEqual(asMachine(await request('GET', `${machines}/a`)).metadata.labels, { a: '1', b: '2' });
});

test('a JSON patch of who owns what changes nothing of another object with the same fields', async (t) => {
  const { request } = await startWithNamespace(t);
  for (const name of ['a', 'b']) await request('POST', machines, { body: machine(name) });
  const fieldsOf = async (name: string): Promise<unknown> =>
    asMachine(await request('GET', `${machines}/${name}`)).metadata.managedFields?.[0]?.fieldsV1;
  const before = await fieldsOf('b');
  const body = [{ op: 'remove', path: '/metadata/managedFields/0/fieldsV1/f:spec' }];
  const { status } = await request('PATCH', `${machines}/a`, { body, headers: jsonPatch });
  assert.equal(status, 200);
  assert.notDeepEqual(await fieldsOf('a'), before);
  assert.deepEqual(await fieldsOf('b'), before);
});

test('a JSON patch has limits', () => {
  assert.throws(() => readOperations(Array.from({ length: 10_001 }, () => ({}))), { code: 413 });
  assert.throws(() => readOperations({ op: 'add' }), { code: 400 });
  assert.throws(() => readOperations([1]), { code: 400 });
  const doubling = Array.from({ length: 30 }, (_, i) => ({
    op: 'copy' as const,
    from: '/a',
    path: `/a/x${i}`,
  }));
  assert.throws(() => applyJsonPatch({ a: { text: 'x'.repeat(100) } }, doubling), { code: 413 });
});

test('a JSON patch reaches no prototype', () => {
  const operations = readOperations([{ op: 'add', path: '/__proto__/polluted', value: true }]);
  assert.throws(() => applyJsonPatch({}, operations), { code: 422 });
  assert.equal('polluted' in {}, false);
});

test('a patch may turn an object into nothing else', async (t) => {
  const { request } = await startWithNamespace(t);
  await request('POST', machines, { body: machine('a') });
  const refused = async (body: unknown, headers: Record<string, string>, status: number): Promise<void> => {
    const answer = await request('PATCH', `${machines}/a`, { body, headers });
    assert.equal(answer.status, status, JSON.stringify(body));
  };
  await refused('[]', mergePatch, 400);
  await refused('null', mergePatch, 400);
  await refused({ kind: 'Pod' }, mergePatch, 422);
  await refused({ kind: null }, mergePatch, 400);
  await refused({ apiVersion: 'v2' }, mergePatch, 400);
  await refused({ metadata: null }, mergePatch, 400);
  await refused({ metadata: [] }, mergePatch, 400);
  await refused({ metadata: { name: 'b' } }, mergePatch, 400);
  await refused({ metadata: { namespace: 'm' } }, mergePatch, 400);
  await refused({ metadata: { uid: 'other' } }, mergePatch, 409);
  await refused({ spec: null }, mergePatch, 422);
  await refused([{ op: 'replace', path: '', value: 5 }], jsonPatch, 400);
  await refused([{ op: 'remove', path: '/metadata' }], jsonPatch, 400);
  await refused({}, { 'content-type': 'application/strategic-merge-patch+json' }, 415);
});

test('apply creates, owns, conflicts and gives up', async (t) => {
  const { request } = await startWithNamespace(t);
  const wanted = (labels: object): object => ({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: 'a', labels },
  });
  const apply = (manager: string, body: unknown, more = ''): ReturnType<typeof request> =>
    request('PATCH', `${machines}/a?fieldManager=${manager}${more}`, { body, headers: applyPatch });
  const created = await apply('one', machine('a', { labels: { x: '1' } }));
  assert.equal(created.status, 201);
  const conflict = await apply('two', wanted({ x: '2' }));
  assert.equal(conflict.status, 409);
  assert.equal(asStatus(conflict).details?.causes?.[0]?.field, '.metadata.labels.x');
  assert.equal(asMachine(await apply('two', wanted({ x: '2' }), '&force=true')).metadata.labels?.['x'], '2');
  const dropped = asMachine(await apply('two', wanted({})));
  assert.equal(dropped.metadata.labels?.['x'], undefined);
  const unknown = { ...machine('a'), spec: { colour: 'red' } };
  assert.equal((await apply('two', unknown)).status, 400);
});

test('the first of two appliers creates', async (t) => {
  const { request } = await startWithNamespace(t);
  const answers = await Promise.all(
    ['one', 'two', 'three'].map((manager) =>
      request('PATCH', `${machines}/a?fieldManager=${manager}`, { body: machine('a'), headers: applyPatch }),
    ),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 201]);
});
