import assert from 'node:assert/strict';
import test from 'node:test';
import { startNativeServer } from '../../test/apiserver/native-server.js';
import { requestOf, type Answer } from '../../test/apiserver/test-server.js';

const group = '/apis/subresources.kubevirt.io';

async function serving(t: test.TestContext): Promise<(path: string, method?: string) => Promise<Answer>> {
  const server = await startNativeServer();
  t.after(() => server.close());
  const request = requestOf({ port: server.port, ca: server.authority.cert });
  return (path, method = 'GET') => request(method, path, { token: 'admin' });
}

test('virtctl finds the preferred version, and then the version of the server', async (t) => {
  const get = await serving(t);
  const { preferredVersion } = (await get(group)).json() as { preferredVersion?: { groupVersion: string } };
  const answer = await get(`/apis/${preferredVersion?.groupVersion ?? ''}/version`);
  assert.equal(answer.status, 200);
  const info = answer.json();
  assert.match(String(info['gitVersion']), /^v1\.\d+\.\d+\+nativirt-/);
  assert.deepEqual(Object.keys(info), [
    ...['gitVersion', 'gitCommit', 'gitTreeState', 'buildDate', 'goVersion', 'compiler', 'platform'],
  ]);
});

test('health, and an image that nobody has told of', async (t) => {
  const get = await serving(t);
  const health = (await get(`${group}/v1alpha3/healthz`)).json() as { apiserver?: { connectivity: string } };
  assert.equal(health.apiserver?.connectivity, 'ok');
  assert.equal((await get(`${group}/v1/guestfs`)).status, 404);
  assert.equal((await get(`${group}/v1/version`, 'POST')).status, 405);
  assert.equal((await get(`${group}/v1/namespaces/default/version`)).status, 404);
  assert.equal((await get(`${group}/v1/version/x`)).status, 404);
});
