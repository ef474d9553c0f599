import assert from 'node:assert/strict';
import test from 'node:test';
import { startNativeServer } from '../../test/apiserver/native-server.js';
import { requestOf, type Answer } from '../../test/apiserver/test-server.js';

const accounts = '/api/v1/namespaces/default/serviceaccounts';

interface Fixture {
  readonly send: (method: string, path: string, body?: object, token?: string) => Promise<Answer>;
  /** Asks for a token of `robot`. */
  readonly ask: (spec: object) => Promise<Answer>;
}

async function serving(t: test.TestContext): Promise<Fixture> {
  const server = await startNativeServer();
  t.after(() => server.close());
  const request = requestOf({ port: server.port, ca: server.authority.cert });
  const send: Fixture['send'] = (method, path, body, token = 'admin') =>
    request(method, path, {
      token,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  await send('POST', accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } });
  const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' };
  return { send, ask: (spec) => send('POST', `${accounts}/robot/token`, { ...kind, spec }) };
}

interface Answered {
  readonly spec: { readonly audiences: readonly string[]; readonly expirationSeconds: number };
  readonly status: { readonly token: string; readonly expirationTimestamp: string };
}

test('the server knows its tokens, and lets go of them with their account', async (t) => {
  const { send, ask } = await serving(t);
  const answer = await ask({ expirationSeconds: 600 });
  assert.equal(answer.status, 201);
  const { spec, status } = JSON.parse(answer.text) as Answered;
  assert.equal(spec.expirationSeconds, 600);
  assert.match(status.expirationTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  // No role has been given to it; its name is in the refusal.
  const known = await send('GET', '/apis', undefined, status.token);
  assert.deepEqual(
    [known.status, known.json().message],
    [403, 'forbidden: User "system:serviceaccount:default:robot" cannot get path "/apis"'],
  );
  await send('DELETE', `${accounts}/robot`);
  assert.equal((await send('GET', '/apis', undefined, status.token)).status, 401);
});

test('what can not be is refused', async (t) => {
  const { send, ask } = await serving(t);
  assert.equal((await ask({ expirationSeconds: 60 })).status, 422);
  assert.equal((await ask({ expirationSeconds: 'long' })).status, 422);
  const pod = { kind: 'Pod', apiVersion: 'v1', name: 'nope' };
  assert.equal((await ask({ boundObjectRef: pod })).status, 404);
  assert.equal((await ask({ boundObjectRef: { ...pod, kind: 'Node' } })).status, 400);
  assert.equal((await send('POST', `${accounts}/robot/token`, {})).status, 400);
  assert.equal((await send('GET', `${accounts}/robot/token`)).status, 405);
});
