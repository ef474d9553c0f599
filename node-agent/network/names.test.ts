import assert from 'node:assert/strict';
import test from 'node:test';
import type { Pod } from '../../openapi/generated/types/core_v1.js';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { networkAnnotations, networkStatusAnnotation } from '../../openapi/launcher/pod-interfaces.js';
import { bridgeName, podInterface, tapName } from './names.js';

const metadata = {
  name: 'web',
  namespace: 'default',
  uid: 'uid-1',
  resourceVersion: '1',
  creationTimestamp: '2026-01-02T03:04:05Z',
};
const podWith = (annotations: Record<string, string>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...metadata, annotations },
});
const blue = { name: 'blue', multus: { networkName: 'blue-net' } };
const red = { name: 'red', multus: { networkName: 'other/red-net' } };

test('devices of secondary networks have the names that network plugins know', () => {
  assert.deepEqual(
    [tapName(undefined), bridgeName({ name: 'default', pod: {} }), tapName(blue), bridgeName(blue)],
    ['tap0', 'k6t-eth0', 'tap16477688c0e', 'k6t-16477688c0e'],
  );
});

test('the pod asks for its secondary networks', () => {
  const spec: VirtualMachineInstance['spec'] = {
    domain: {
      devices: {
        interfaces: [
          { name: 'default', masquerade: {} },
          { name: 'blue', bridge: {}, macAddress: '02:00:00:00:00:01' },
          { name: 'red', bridge: {} },
        ],
      },
    },
    networks: [{ name: 'default', pod: {} }, blue, red],
  };
  const vmi = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata, spec } as const;
  const [annotation] = Object.values(networkAnnotations(vmi));
  assert.deepEqual(JSON.parse(annotation ?? ''), [
    { name: 'blue-net', namespace: 'default', interface: 'pod16477688c0e', mac: '02:00:00:00:00:01' },
    { name: 'red-net', namespace: 'other', interface: podInterface(podWith({}), red, [blue, red]) },
  ]);
});

test('a network plugin that has named interfaces its own way is believed', () => {
  const status = [
    { name: 'cluster', interface: 'eth0' },
    { name: 'default/blue-net', interface: 'net1' },
    { name: 'other/red-net', interface: 'net2' },
  ];
  const pod = podWith({ [networkStatusAnnotation]: JSON.stringify(status) });
  assert.equal(podInterface(pod, blue, [blue, red]), 'net1');
  assert.equal(podInterface(pod, red, [blue, red]), 'net2');
  const odd = podWith({ [networkStatusAnnotation]: '{"not": "a list"}' });
  assert.equal(podInterface(odd, blue, [blue, red]), 'pod16477688c0e');
});
