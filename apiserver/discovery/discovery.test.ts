import test from 'node:test';
import assert from 'node:assert/strict';
import { startNativeServer } from '../../test/apiserver/native-server.js';
import { requestOf, type Answer } from '../../test/apiserver/test-server.js';
import { negotiateAggregated } from './aggregated.js';

const v2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const v2beta1 = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList';

type Request = (path: string, headers?: Record<string, string>) => Promise<Answer>;

async function serving(t: test.TestContext): Promise<Request> {
  const server = await startNativeServer();
  t.after(() => server.close());
  const request = requestOf({ port: server.port, ca: server.authority.cert });
  return (path, headers = {}) => request('GET', path, { token: 'admin', headers });
}

interface Named {
  readonly name: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly singularName: string;
  readonly shortNames?: readonly string[];
  readonly group?: string;
  readonly namespaced: boolean;
}

interface Discovered {
  readonly resource: string;
  readonly scope: string;
  readonly verbs: readonly string[];
  readonly responseKind?: { readonly kind: string };
  readonly subresources?: readonly { readonly subresource: string; readonly verbs: readonly string[] }[];
}

test('aggregated discovery in the version that the client lists first, with its ETag', async (t) => {
  const get = await serving(t);
  for (const [accept, type, apiVersion] of [
    [`${v2},${v2beta1},application/json`, v2, 'apidiscovery.k8s.io/v2'],
    [`${v2beta1},${v2},application/json`, v2beta1, 'apidiscovery.k8s.io/v2beta1'],
    ['application/json', 'application/json', 'v1'],
    ['*/*', 'application/json', 'v1'],
  ] as const) {
    const answer = await get('/apis', { accept });
    assert.equal(answer.headers['content-type'], type);
    assert.equal(answer.json()['apiVersion'], apiVersion);
    assert.match(answer.headers.etag ?? '', /^"[0-9A-F]{128}"$/);
    const again = await get('/apis', { accept, 'if-none-match': answer.headers.etag ?? '' });
    assert.deepEqual([again.status, again.text, again.headers['content-type']], [304, '', type]);
    assert.equal((await get('/apis', { accept, 'if-none-match': '"OTHER"' })).status, 200);
  }
});

test('what a client learns of a kind, its subresources and the alias group', async (t) => {
  const get = await serving(t);
  const body = (await get('/apis', { accept: v2 })).json();
  const items = body['items'] as {
    metadata: { name: string };
    versions: { version: string; resources: Discovered[] }[];
  }[];
  const resource = (group: string, name: string): Discovered | undefined =>
    items
      .find(({ metadata }) => metadata.name === group)
      ?.versions[0]?.resources.find((found) => found.resource === name);
  const vm = resource('kubevirt.io', 'virtualmachines');
  assert.equal(vm?.responseKind?.kind, 'VirtualMachine');
  assert.equal(vm.scope, 'Namespaced');
  assert.deepEqual([...vm.verbs].sort(), [
    'create',
    'delete',
    'deletecollection',
    'get',
    'list',
    'patch',
    'update',
    'watch',
  ]);
  const verbs = Object.fromEntries((vm.subresources ?? []).map((found) => [found.subresource, found.verbs]));
  assert.deepEqual(verbs['start'], ['update']);
  assert.deepEqual(verbs['status'], ['get', 'patch', 'update']);
  const alias = resource('subresources.kubevirt.io', 'virtualmachines');
  assert.deepEqual([alias?.responseKind, alias?.verbs], [undefined, []]);
  assert.ok(alias?.subresources?.some(({ subresource }) => subresource === 'console'));
});

test('the plain documents, with and without a slash at their end', async (t) => {
  const get = await serving(t);
  assert.deepEqual((await get('/api')).json()['versions'], ['v1']);
  const group = (await get('/apis/kubevirt.io/')).json();
  assert.deepEqual(group['preferredVersion'], { groupVersion: 'kubevirt.io/v1', version: 'v1' });
  const list = (await get('/apis/subresources.kubevirt.io/v1/')).json();
  assert.deepEqual([list.kind, list['groupVersion']], ['APIResourceList', 'subresources.kubevirt.io/v1']);
  const names = (list['resources'] as Named[]).map(({ name }) => name);
  assert.ok(names.includes('virtualmachines/start'));
  assert.ok(!names.includes('virtualmachines'));
  const beside = (await get('/apis/kubevirt.io/v1')).json()['resources'] as Named[];
  assert.ok(beside.some(({ name }) => name === 'virtualmachineinstances/vnc'));
  assert.ok(beside.every(({ name }) => name.split('/').length < 3));
  const core = (await get('/api/v1')).json()['resources'] as Named[];
  const namespaces = core.find(({ name }) => name === 'namespaces');
  assert.deepEqual([namespaces?.namespaced, namespaces?.shortNames], [false, ['ns']]);
  for (const unknown of ['/apis/nope.example.com', '/apis/kubevirt.io/v9', '/api/v2']) {
    assert.deepEqual([(await get(unknown)).status, (await get(unknown)).text], [404, '404 page not found\n']);
  }
});

test('OpenAPI documents at URLs that change with them', async (t) => {
  const get = await serving(t);
  const index = JSON.parse((await get('/openapi/v3')).text) as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  const url = index.paths['apis/kubevirt.io/v1']?.serverRelativeURL ?? '';
  const found = await get(url, { accept: 'application/json' });
  assert.equal(found.status, 200);
  assert.equal(found.headers['cache-control'], 'public, immutable');
  assert.ok(Date.parse(found.headers.expires ?? '') > Date.now() + 300 * 86_400_000);
  assert.equal(found.json()['openapi'], '3.0.0');
  const wrong = await get(`${url.split('?')[0] ?? ''}?hash=WRONG`);
  assert.deepEqual([wrong.status, wrong.headers.location], [301, url]);
  const plain = await get(url.split('?')[0] ?? '');
  assert.deepEqual([plain.status, plain.headers['cache-control']], [200, 'no-cache, private']);
  const proto = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';
  assert.equal((await get(url, { accept: proto })).status, 406);
  assert.equal((await get('/openapi/v3/apis/nope.example.com/v1')).status, 404);
  assert.equal((await get('/openapi/v2')).json()['swagger'], '2.0');
  for (const { serverRelativeURL } of Object.values(index.paths)) {
    assert.equal((await get(serverRelativeURL)).status, 200, serverRelativeURL);
  }
});

interface Documented {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
}

test('no two operations of a document have one name', async (t) => {
  const get = await serving(t);
  const { paths } = JSON.parse((await get('/openapi/v3')).text) as { paths: Record<string, object> };
  for (const url of ['/openapi/v2', ...Object.keys(paths).map((name) => `/openapi/v3/${name}`)]) {
    const document = JSON.parse((await get(url)).text) as Documented;
    const ids = Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    );
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
      url,
    );
  }
});

test('OpenAPI v2 as protobuf, for those who name it', async (t) => {
  const get = await serving(t);
  const served = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
  const asked = served.replace('v2.v1.0', 'v2@v1.0');
  const found = await get('/openapi/v2', { accept: `${asked}, application/json` });
  assert.deepEqual([found.status, found.headers['content-type']], [200, served]);
  assert.ok(found.text.startsWith('\n\x032.0'));
  const { etag = '' } = found.headers;
  const again = await get('/openapi/v2', { accept: served, 'if-none-match': etag });
  assert.deepEqual([again.status, again.text], [304, '']);
  const json = await get('/openapi/v2', { accept: `text/html, application/*, ${served}` });
  assert.equal(json.headers['content-type'], 'application/json');
  assert.notEqual(json.headers.etag, etag);
  assert.equal((await get('/openapi/v2', { accept: 'text/html' })).status, 406);
});

test('version and the list of paths', async (t) => {
  const get = await serving(t);
  assert.match(String((await get('/version')).json()['gitVersion']), /^v1\.\d+\.\d+\+nativirt-/);
  const { paths } = (await get('/')).json() as { paths?: string[] };
  for (const path of ['/apis/kubevirt.io/v1', '/healthz', '/metrics', '/openapi/v3']) {
    assert.ok(paths?.includes(path), path);
  }
});

test('discovery is open to the authenticated only by rules, health to everybody', async (t) => {
  const server = await startNativeServer();
  t.after(() => server.close());
  const request = requestOf({ port: server.port, ca: server.authority.cert });
  const refused = await request('GET', '/apis', { token: 'bob' });
  assert.deepEqual(
    [refused.status, refused.json().message],
    [403, 'forbidden: User "bob" cannot get path "/apis"'],
  );
  assert.equal((await request('GET', '/readyz')).text, 'ok');
  assert.equal((await request('GET', '/livez/ping')).text, 'ok');
});

test('which document an Accept header means', () => {
  assert.equal(negotiateAggregated(undefined), undefined);
  assert.equal(negotiateAggregated(`application/vnd.kubernetes.protobuf, ${v2}`), 'v2');
  assert.equal(
    negotiateAggregated('application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io'),
    'v2',
  );
  assert.equal(negotiateAggregated(`application/json, ${v2}`), undefined);
  assert.equal(
    negotiateAggregated('application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList'),
    undefined,
  );
});
