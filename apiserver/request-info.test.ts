import test from 'node:test';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ApiError } from './errors/api-error.js';
import { authorizedSubresource, isLongRunning, parseRequestInfo } from './request-info.js';

function parse(method: string, url: string): ReturnType<typeof parseRequestInfo> {
  const [path = '', query = ''] = url.split('?');
  return parseRequestInfo(method, path, new URLSearchParams(query));
}

/** method, URL, [verb, group, version, namespace, resource, name, subresource]; '-' stands for undefined. */
const table: readonly (readonly [string, string, string])[] = [
  ['GET', '/api/v1/namespaces', 'list||v1|-|namespaces|-|-'],
  ['GET', '/api/v1/namespaces/x', 'get||v1|x|namespaces|x|-'],
  ['PUT', '/api/v1/namespaces/x/finalize', 'update||v1|x|namespaces|x|finalize'],
  ['GET', '/api/v1/namespaces/x/status', 'get||v1|x|namespaces|x|status'],
  ['GET', '/api/v1/namespaces/x/pods', 'list||v1|x|pods|-|-'],
  ['HEAD', '/api/v1/namespaces/x/pods/p', 'get||v1|x|pods|p|-'],
  ['POST', '/api/v1/namespaces/x/pods/p/binding', 'create||v1|x|pods|p|binding'],
  ['GET', '/api/v1/nodes/n', 'get||v1|-|nodes|n|-'],
  ['GET', '/apis/kubevirt.io/v1/virtualmachines?watch=true', 'watch|kubevirt.io|v1|-|virtualmachines|-|-'],
  ['GET', '/apis/kubevirt.io/v1/virtualmachines?watch=1', 'watch|kubevirt.io|v1|-|virtualmachines|-|-'],
  ['GET', '/apis/kubevirt.io/v1/virtualmachines?watch=false', 'list|kubevirt.io|v1|-|virtualmachines|-|-'],
  ['GET', '/apis/kubevirt.io/v1/watch/virtualmachines', 'watch|kubevirt.io|v1|-|virtualmachines|-|-'],
  [
    'GET',
    '/apis/kubevirt.io/v1/namespaces/x/virtualmachines?fieldSelector=metadata.name%3Da&watch=1',
    'watch|kubevirt.io|v1|x|virtualmachines|a|-',
  ],
  [
    'GET',
    '/apis/kubevirt.io/v1/virtualmachines?fieldSelector=status.phase%3Dx,metadata.name%3D%3Db',
    'list|kubevirt.io|v1|-|virtualmachines|b|-',
  ],
  [
    'GET',
    '/apis/kubevirt.io/v1/virtualmachines?fieldSelector=metadata.name!%3Db',
    'list|kubevirt.io|v1|-|virtualmachines|-|-',
  ],
  [
    'DELETE',
    '/apis/kubevirt.io/v1/namespaces/x/virtualmachines',
    'deletecollection|kubevirt.io|v1|x|virtualmachines|-|-',
  ],
  [
    'GET',
    '/apis/subresources.kubevirt.io/v1/namespaces/x/virtualmachineinstances/a/vnc/screenshot',
    'get|subresources.kubevirt.io|v1|x|virtualmachineinstances|a|vnc/screenshot',
  ],
  [
    'GET',
    '/apis/kubevirt.io/v1/namespaces/x/virtualmachineinstances/a/portforward/22/tcp',
    'get|kubevirt.io|v1|x|virtualmachineinstances|a|portforward/22/tcp',
  ],
  [
    'PUT',
    '/apis/subresources.kubevirt.io/v1/namespaces/x/expand-vm-spec',
    'update|subresources.kubevirt.io|v1|x|expand-vm-spec|-|-',
  ],
];

test('resource paths', () => {
  for (const [method, url, want] of table) {
    const info = parse(method, url);
    const got = [
      info.verb,
      info.group,
      info.version,
      info.namespace,
      info.resource,
      info.name,
      info.subresource,
    ];
    assert.equal(got.map((part) => part ?? '-').join('|'), want, `${method} ${url}`);
    assert.equal(info.isResource, true);
  }
});

test('everything that names no resource is a plain path', () => {
  for (const path of [
    '/',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/apis',
    '/apis/g',
    '/apis/g/v1',
    '/version',
    '/readyz/ping',
  ]) {
    assert.deepEqual([parse('GET', path).verb, parse('GET', path).isResource], ['nonresource', false], path);
  }
});

test('encoded slashes split as they do for kube-apiserver, so that no name hides a subresource', () => {
  assert.equal(parse('GET', '/api/v1/namespaces/x/pods/a%2Fstatus').subresource, 'status');
});

test('bad paths and methods are refused as client errors', () => {
  const code = (method: string, url: string): number => {
    try {
      parse(method, url);
    } catch (error) {
      if (error instanceof ApiError) return error.code;
      throw error;
    }
    return 200;
  };
  assert.equal(code('GET', '/api/v1/%zz'), 400);
  assert.equal(code('GET', '/api/v1/namespaces//pods'), 400);
  assert.equal(code('OPTIONS', '/api/v1/pods'), 405);
});

test('any path either parses or is a client error', () => {
  fc.assert(
    fc.property(fc.string(), fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'), (tail, method) => {
      try {
        parseRequestInfo(method, `/apis/${tail}`, new URLSearchParams());
      } catch (error) {
        assert.ok(error instanceof ApiError && error.code < 500);
      }
    }),
  );
});

test('subresources as RBAC knows them, and which requests are long', () => {
  const base = '/apis/kubevirt.io/v1/namespaces/x/virtualmachineinstances/a/';
  assert.equal(authorizedSubresource(parse('GET', `${base}portforward/22/tcp`)), 'portforward');
  assert.equal(authorizedSubresource(parse('GET', `${base}vnc/screenshot`)), 'vnc/screenshot');
  assert.equal(isLongRunning(parse('GET', `${base}console`)), true);
  assert.equal(isLongRunning(parse('PUT', `${base}pause`)), false);
  assert.equal(isLongRunning(parse('GET', '/api/v1/pods?watch=1')), true);
});
