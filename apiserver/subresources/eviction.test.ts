import assert from 'node:assert/strict';
import test from 'node:test';
import { startNativeServer } from '../../test/apiserver/native-server.js';
import { requestOf, type Answer } from '../../test/apiserver/test-server.js';

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
  assert.equal((await send('PATCH', `${pods}/${name}/status`, { status }, merge)).status, 200);
}

const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const merge = 'application/merge-patch+json';

async function createBudget(send: Send, spec: object = {}): Promise<void> {
  const created = await send('POST', budgets, {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'keep' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } }, ...spec },
  });
  assert.equal(created.status, 201);
}

/** As the controller has counted. */
async function allow(send: Send, disruptionsAllowed: number, currentHealthy: number): Promise<void> {
  const status = { observedGeneration: 1, disruptionsAllowed, currentHealthy, desiredHealthy: 1 };
  assert.equal((await send('PATCH', `${budgets}/keep/status`, { status }, merge)).status, 200);
}

test('a pod is evicted as long as its budget allows', async (t) => {
  const send = await serving(t);
  for (const name of ['a', 'b']) await runningPod(send, name);
  await createBudget(send);
  const uncounted = await send('POST', `${pods}/a/eviction`, eviction('a'));
  assert.equal(uncounted.status, 429);
  assert.match(uncounted.text, /still being processed/);
  assert.equal(uncounted.headers['retry-after'], '10');
  await allow(send, 1, 2);
  const dry = await send('POST', `${pods}/a/eviction?dryRun=All`, eviction('a'));
  assert.deepEqual([dry.status, dry.json().kind, dry.json()['status']], [201, 'Status', 'Success']);
  const gone = eviction('a', { deleteOptions: { gracePeriodSeconds: 0 } });
  assert.equal((await send('POST', `${pods}/a/eviction`, gone)).status, 201);
  assert.equal((await send('GET', `${pods}/a`)).status, 404);
  const { disruptionsAllowed, disruptedPods } = (await send('GET', `${budgets}/keep`)).json()['status'] as {
    disruptionsAllowed: number;
    disruptedPods: object;
  };
  assert.deepEqual([disruptionsAllowed, Object.keys(disruptedPods)], [0, ['a']]);
  await allow(send, 0, 1);
  const held = await send('POST', `${pods}/b/eviction`, eviction('b'));
  assert.deepEqual([held.status, held.json().reason], [429, 'TooManyRequests']);
  assert.equal(held.headers['retry-after'], undefined, 'kubectl drain would wait long past its time');
  assert.match(held.text, /"DisruptionBudget".*keep needs 1 healthy pods and has 1 currently/);
});

test('of ten evictions at once as many succeed as the budget allows', async (t) => {
  const send = await serving(t);
  const names = Array.from({ length: 10 }, (_, index) => `pod${index}`);
  for (const name of names) await runningPod(send, name);
  await createBudget(send);
  await allow(send, 3, 10);
  const answers = await Promise.all(
    names.map((name) => send('POST', `${pods}/${name}/eviction`, eviction(name))),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [
    ...Array<number>(3).fill(201),
    ...Array<number>(7).fill(429),
  ]);
});

test('a pod that is not healthy is evicted where enough others are, or always if the budget says so', async (t) => {
  const send = await serving(t);
  await runningPod(send, 'a');
  const conditions = [{ type: 'Ready', status: 'False' }];
  await send('PATCH', `${pods}/a/status`, { status: { conditions } }, merge);
  await createBudget(send);
  await allow(send, 0, 0);
  const evict = (): Promise<Answer> => send('POST', `${pods}/a/eviction?dryRun=All`, eviction('a'));
  assert.equal((await evict()).status, 429);
  await allow(send, 0, 1);
  assert.equal((await evict()).status, 201);
  await allow(send, 0, 0);
  const spec = { unhealthyPodEvictionPolicy: 'AlwaysAllow' };
  await send('PATCH', `${budgets}/keep`, { spec }, merge);
  assert.equal((await evict()).status, 201);
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
