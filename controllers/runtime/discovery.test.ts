import assert from 'node:assert/strict';
import test from 'node:test';
import { createDiscovery } from './discovery.js';

const signal = new AbortController().signal;
const pod = { name: 'pods', kind: 'Pod', namespaced: true, verbs: ['list'] };
const machine = { name: 'virtualmachines', kind: 'VirtualMachine', namespaced: true, verbs: ['list'] };

function answering(paths: Readonly<Record<string, unknown>>) {
  return createDiscovery({
    raw: (path) =>
      path in paths ? Promise.resolve(paths[path]) : Promise.reject(new Error(`nothing at ${path}`)),
  });
}

const groups = {
  groups: [
    {
      name: 'kubevirt.io',
      preferredVersion: { version: 'v1' },
      versions: [{ version: 'v1alpha3' }, { version: 'v1' }],
    },
  ],
};

test('each kind comes once, in its preferred version, without subresources', async () => {
  const discovery = answering({
    '/apis': groups,
    '/api/v1': { resources: [pod, { ...pod, name: 'pods/status' }] },
    '/apis/kubevirt.io/v1': { resources: [machine] },
    '/apis/kubevirt.io/v1alpha3': { resources: [machine] },
  });
  const kinds = await discovery.kinds(signal);
  assert.deepEqual(
    kinds.map(({ group, version, resource }) => `${group}/${version}/${resource}`),
    ['/v1/pods', 'kubevirt.io/v1/virtualmachines'],
  );
});

test('a group that does not answer makes the whole unknown', async () => {
  const discovery = answering({ '/apis': groups, '/api/v1': { resources: [pod] } });
  await assert.rejects(discovery.kinds(signal));
});
