import assert from 'node:assert/strict';
import test from 'node:test';
import { startNativeServer } from '../../test/apiserver/native-server.js';
import { requestOf, type Answer } from '../../test/apiserver/test-server.js';
import { disruptionsAllowed } from './disruptions.js';
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { PodDisruptionBudget } from '../../openapi/generated/types/policy_v1.js';

const pods = '/api/v1/namespaces/default/pods';
const json = { 'content-type': 'application/json' };

type Send = (method: string, path: string, body?: object, type?: string) => Promise<Answer>;

async function serving(t: test.TestContext): Promise<Send> {
  const server = await startNativeServer();
  t.after(() => server.close());
  const request = requestOf({ port: server.port, ca: server.authority.cert });
  return (method, path, body, type) =>
    request(method, path, {
      token: 'admin',
      headers: type === undefined ? json : { 'content-type': type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
}

const eviction = (name: string, more: object = {}): object => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name, namespace: 'default' },
  ...more,
});

async function runningPod(send: Send, name: string): Promise<void> {
  const metadata = { name, labels: { app: 'web' } };
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] };
  assert.equal((await send('POST', pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec })).status, 201);
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const merge = 'application/merge-patch+json';
  assert.equal((await send('PATCH', `${pods}/${name}/status`, { status }, merge)).status, 200);
}

test('a pod is evicted as long as its budget allows', async (t) => {
  const send = await serving(t);
  for (const name of ['a', 'b']) await runningPod(send, name);
  await send('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'keep' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
  });
  const dry = await send('POST', `${pods}/a/eviction?dryRun=All`, eviction('a'));
  assert.deepEqual([dry.status, dry.json().kind, dry.json()['status']], [201, 'Status', 'Success']);
  const gone = eviction('a', { deleteOptions: { gracePeriodSeconds: 0 } });
  assert.equal((await send('POST', `${pods}/a/eviction`, gone)).status, 201);
  assert.equal((await send('GET', `${pods}/a`)).status, 404);
  const held = await send('POST', `${pods}/b/eviction`, eviction('b'));
  assert.deepEqual([held.status, held.json().reason], [429, 'TooManyRequests']);
  assert.equal(held.headers['retry-after'], '10');
  assert.match(held.text, /"DisruptionBudget".*keep needs 1 healthy pods and has 1 currently/);
});

test('what is no eviction of this pod is refused', async (t) => {
  const send = await serving(t);
  await runningPod(send, 'a');
  assert.equal((await send('POST', `${pods}/nope/eviction`, eviction('nope'))).status, 404);
  assert.equal((await send('POST', `${pods}/a/eviction`, eviction('b'))).status, 400);
  assert.equal((await send('POST', `${pods}/a/eviction`, { kind: 'Pod', apiVersion: 'v1' })).status, 400);
  const other = eviction('a', { deleteOptions: { preconditions: { uid: 'other' } } });
  assert.equal((await send('POST', `${pods}/a/eviction`, other)).status, 409);
  assert.equal((await send('GET', `${pods}/a/eviction`)).status, 405);
});

test('budgets in numbers and shares', () => {
  // What counts of a pod, and nothing else.
  const pod = (ready: boolean, phase = 'Running'): Pod =>
    ({
      metadata: {},
      status: { phase, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
    }) as unknown as Pod;
  const four = [pod(true), pod(true), pod(true), pod(false)];
  const allowed = (spec: PodDisruptionBudget['spec'], of = four): number =>
    disruptionsAllowed({ spec } as PodDisruptionBudget, of).allowed;
  assert.equal(allowed({ minAvailable: 2 }), 1);
  assert.equal(allowed({ minAvailable: '50%' }), 1);
  assert.equal(allowed({ minAvailable: '51%' }), 0);
  assert.equal(allowed({ maxUnavailable: 1 }), 0);
  assert.equal(allowed({ maxUnavailable: '50%' }), 1);
  assert.equal(allowed({}), 3);
  assert.equal(allowed({ maxUnavailable: 1 }, [...four, pod(false, 'Succeeded')]), 0);
});
