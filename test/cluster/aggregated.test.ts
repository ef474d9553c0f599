/** The API server behind a front proxy: whose request it is, what they may, and what of the cluster it honours. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ensureCa } from '../../apiserver/pki/authority.js';
import type { ConfigMap, Namespace } from '../../openapi/generated/types/core_v1.js';
import type { ClusterRole, ClusterRoleBinding } from '../../openapi/generated/types/rbac_v1.js';
import type { KubernetesObject, New } from '../../openapi/meta.js';
import { requestOf, type Answer, type RequestOptions } from '../apiserver/test-server.js';
import { eventually } from '../e2e/harness.js';
import { startCluster, type TestCluster } from './cluster.js';

const admin = { name: 'admin', groups: ['system:masters'], extra: {} };
const instances = '/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances';
const machine = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { name: 'vm' },
  spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
};

let cluster: TestCluster;

before(async () => {
  cluster = await startCluster();
  const role: New<ClusterRole> = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'viewer' },
    rules: [
      { apiGroups: ['kubevirt.io'], resources: ['virtualmachineinstances'], verbs: ['get', 'list', 'watch'] },
      {
        apiGroups: ['subresources.kubevirt.io'],
        resources: ['virtualmachineinstances/vnc/screenshot'],
        verbs: ['get'],
      },
    ],
  };
  const binding: New<ClusterRoleBinding> = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'viewers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'viewer' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'devs' }],
  };
  await create('rbac.authorization.k8s.io', 'clusterroles', role);
  await create('rbac.authorization.k8s.io', 'clusterrolebindings', binding);
});

after(() => cluster.close());

async function create<T extends KubernetesObject>(
  group: string,
  resource: string,
  object: New<T>,
): Promise<void> {
  await cluster.core.registry.create({ group, resource }, object, { user: admin });
}

/** As a user does: to the proxy. */
function proxied(method: string, path: string, options: RequestOptions): Promise<Answer> {
  return requestOf(cluster)(method, path, options);
}

/** Past the proxy, as a component in the cluster may. */
function direct(method: string, path: string, options: RequestOptions): Promise<Answer> {
  return requestOf({ port: cluster.apiserver.port, ca: cluster.ca })(method, path, options);
}

test('the cluster decides what a user may, by the user and groups that the proxy names', async () => {
  await eventually('the role counts', async () =>
    (await proxied('GET', instances, { token: 'bob' })).status === 200 ? true : undefined,
  );
  const refused = await proxied('DELETE', `${instances}/x`, { token: 'bob' });
  assert.deepEqual(
    [refused.status, refused.json().message],
    [
      403,
      'virtualmachineinstances.kubevirt.io "x" is forbidden: User "bob" cannot delete resource "virtualmachineinstances" in API group "kubevirt.io" in the namespace "default"',
    ],
  );
  const stranger = await proxied('GET', instances, { token: 'eve' });
  assert.equal(stranger.status, 403);
  const anonymous = await proxied('GET', instances, {});
  assert.match(anonymous.json().message ?? '', /User "system:anonymous" cannot list/);
});

test('deep subresources are asked for whole', async () => {
  const path = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/x/vnc';
  const screenshot = await proxied('GET', `${path}/screenshot`, { token: 'bob' });
  assert.equal(screenshot.status, 404, 'allowed, and there is no such instance');
  const stream = await proxied('GET', path, { token: 'bob' });
  assert.equal(stream.status, 403);
});

test('without the proxy a token is reviewed by the cluster', async () => {
  assert.equal((await direct('GET', instances, { token: 'bob' })).status, 200);
  assert.equal((await direct('GET', instances, { token: 'nobody' })).status, 401);
  const spoofed = await direct('GET', instances, { token: 'eve', headers: { 'x-remote-user': 'admin' } });
  assert.equal(spoofed.status, 403, 'headers count only with a certificate of the proxy');
});

test("namespaces are the cluster's: none, ending, and one made a moment ago", async () => {
  const post = (namespace: string): Promise<Answer> =>
    proxied('POST', `/apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachines`, {
      token: 'admin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(machine),
    });
  const absent = await post('absent');
  assert.deepEqual([absent.status, absent.json().message], [404, 'namespaces "absent" not found']);
  const fresh: New<Namespace> = {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'fresh', finalizers: ['example.com/hold'] },
  };
  await create('', 'namespaces', fresh);
  assert.equal((await post('fresh')).status, 201);
  await cluster.core.registry.delete(
    { group: '', resource: 'namespaces', name: 'fresh' },
    {},
    { user: admin },
  );
  const ending = await eventually('the namespace ends', async () => {
    const answer = await post('fresh');
    return answer.status === 403 ? answer : undefined;
  });
  assert.match(ending.json().message ?? '', /because it is being terminated/);
});

test('an upgrade goes the same way', async () => {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  const path = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/x/console';
  const refused = await proxied('GET', path, { token: 'bob', headers });
  assert.deepEqual([refused.status, refused.json().reason], [403, 'Forbidden']);
  const absent = await proxied('GET', path, { token: 'admin', headers });
  assert.deepEqual([absent.status, absent.json().reason], [404, 'NotFound']);
});

test('it is ready with its store, and with the authority of the proxy', async () => {
  const ready = await direct('GET', '/readyz?verbose', {});
  assert.equal(ready.status, 200);
  assert.match(ready.text, /\[\+\]request-header-ca ok\n(.*\n)*\[\+\]storage ok/);
});

test('a new authority of the proxy counts without a restart', async (t) => {
  const next = await ensureCa(`${cluster.core.authority.directory}/next-proxies`, { commonName: 'next' });
  const cert = next.issue({ commonName: 'front-proxy-client', usages: ['client'], days: 1 });
  const headers = { 'x-remote-user': 'jane', 'x-remote-group': 'system:masters' };
  const asProxy = (): Promise<Answer> => direct('GET', instances, { cert, headers });
  assert.equal((await asProxy()).status, 403, 'nobody yet');
  const target = {
    group: '',
    resource: 'configmaps',
    namespace: 'kube-system',
    name: 'extension-apiserver-authentication',
  };
  const key = 'requestheader-client-ca-file';
  const before = (await cluster.core.registry.get<ConfigMap>(target))?.data?.[key] ?? '';
  const set = (bundle: string): Promise<unknown> =>
    cluster.core.registry.guaranteedUpdate<ConfigMap>(
      target,
      (map) => ({ ...map, data: { ...map.data, [key]: bundle } }),
      { user: admin },
    );
  t.after(() => set(before));
  await set(`${before}${next.cert}`);
  await eventually('the new authority counts', async () =>
    (await asProxy()).status === 200 ? true : undefined,
  );
  assert.equal((await proxied('GET', instances, { token: 'bob' })).status, 200, 'and so does the old one');
});
