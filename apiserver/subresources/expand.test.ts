import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { VirtualMachine } from '../../openapi/generated/types/kubevirt_v1.js';
import { startNativeServer } from '../../test/apiserver/native-server.js';
import { requestOf, type Answer } from '../../test/apiserver/test-server.js';

const kubevirt = '/apis/kubevirt.io/v1/namespaces/default';
const alias = '/apis/subresources.kubevirt.io/v1/namespaces/default';
const instancetypes = '/apis/instancetype.kubevirt.io/v1beta1';

type Request = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** A server that knows the instancetype `small` and the preference `os`. */
async function start(t: TestContext): Promise<Request> {
  const server = await startNativeServer();
  t.after(() => server.close());
  const send = requestOf({ port: server.port, ca: server.authority.cert });
  const request: Request = (method, path, body) =>
    send(method, path, {
      token: 'admin',
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
  for (const [path, kind, name, spec] of [
    [
      'virtualmachineclusterinstancetypes',
      'VirtualMachineClusterInstancetype',
      'small',
      { cpu: { guest: 2 }, memory: { guest: '1Gi' } },
    ],
    [
      'namespaces/default/virtualmachinepreferences',
      'VirtualMachinePreference',
      'os',
      { cpu: { preferredCPUTopology: 'cores' }, devices: { preferredDiskBus: 'virtio' } },
    ],
  ] as const) {
    const object = { apiVersion: 'instancetype.kubevirt.io/v1beta1', kind, metadata: { name }, spec };
    const answer = await request('POST', `${instancetypes}/${path}`, object);
    assert.equal(answer.status, 201, answer.text);
  }
  return request;
}

function machine(domain: object, metadata: object = {}): object {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: 'vm', ...metadata },
    spec: {
      runStrategy: 'Halted',
      instancetype: { name: 'small' },
      preference: { name: 'os', kind: 'VirtualMachinePreference' },
      template: {
        spec: {
          domain: { devices: {}, ...domain },
          volumes: [{ name: 'root', containerDisk: { image: 'example.org/guest:1' } }],
        },
      },
    },
  };
}

function assertExpanded(answer: Answer): void {
  assert.equal(answer.status, 200, answer.text);
  const { metadata, spec } = answer.json() as unknown as VirtualMachine;
  assert.deepEqual([metadata.name, metadata.namespace], ['vm', 'default']);
  assert.deepEqual([spec.instancetype, spec.preference], [undefined, undefined]);
  const { domain, architecture } = spec.template.spec ?? {};
  assert.deepEqual(domain?.cpu, { sockets: 1, cores: 2, threads: 1 });
  assert.deepEqual(domain.memory, { guest: '1Gi' });
  assert.deepEqual(domain.devices.disks, [{ name: 'root', disk: { bus: 'virtio' } }]);
  assert.deepEqual([architecture, domain.machine], ['amd64', { type: 'q35' }]);
}

const causes = (answer: Answer): unknown =>
  (answer.json()['details'] as { causes: { field: string }[] }).causes.map(({ field }) => field);

test('a stored VM is shown expanded, and stays as it is', async (t) => {
  const request = await start(t);
  const created = await request('POST', `${kubevirt}/virtualmachines`, machine({}));
  assert.equal(created.status, 201, created.text);
  for (const group of [kubevirt, alias])
    assertExpanded(await request('GET', `${group}/virtualmachines/vm/expand-spec`));
  const { spec } = (
    await request('GET', `${kubevirt}/virtualmachines/vm`)
  ).json() as unknown as VirtualMachine;
  assert.deepEqual(spec.instancetype, { name: 'small' });
  assert.equal(spec.template.spec?.domain.memory, undefined);
  assert.equal((await request('GET', `${alias}/virtualmachines/gone/expand-spec`)).status, 404);
});

test('a VM that is sent comes back expanded, or with what keeps it from that', async (t) => {
  const request = await start(t);
  const expand = (body?: unknown): Promise<Answer> => request('PUT', `${alias}/expand-vm-spec`, body);
  assertExpanded(await expand(machine({})));
  const conflicting = await expand(machine({ memory: { guest: '2Gi' }, cpu: { cores: 1 } }));
  assert.equal(conflicting.status, 422, conflicting.text);
  assert.deepEqual(causes(conflicting), [
    'spec.template.spec.domain.cpu.cores',
    'spec.template.spec.domain.memory.guest',
  ]);
  const lost = { ...(machine({}) as VirtualMachine) };
  lost.spec = { ...lost.spec, instancetype: { name: 'gone' } };
  assert.deepEqual(causes(await expand(lost)), ['spec.instancetype.name']);
  assert.equal((await expand(machine({}, { namespace: 'other' }))).status, 400);
  assert.equal((await expand()).status, 400);
  assert.equal((await request('POST', `${alias}/expand-vm-spec`, machine({}))).status, 405);
  assert.equal((await request('PUT', `${alias}/expand-vm-spec/vm`, machine({}))).status, 404);
});

test('discovery and OpenAPI tell of it', async (t) => {
  const request = await start(t);
  const list = (await request('GET', '/apis/subresources.kubevirt.io/v1')).json();
  const named = (list['resources'] as { name: string }[]).filter(({ name }) => name.includes('expand'));
  assert.deepEqual(named, [
    {
      name: 'expand-vm-spec',
      singularName: '',
      namespaced: true,
      group: 'kubevirt.io',
      version: 'v1',
      kind: '',
      verbs: ['update'],
    },
    {
      name: 'virtualmachines/expand-spec',
      singularName: '',
      namespaced: true,
      group: 'kubevirt.io',
      version: 'v1',
      kind: 'VirtualMachine',
      verbs: ['get'],
    },
  ]);
  const document = (await request('GET', '/openapi/v3/apis/subresources.kubevirt.io/v1')).json();
  const paths = document['paths'] as Record<string, { put?: { operationId: string } }>;
  const path = '/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/expand-vm-spec';
  assert.match(paths[path]?.put?.operationId ?? '', /^replace.*ExpandVmSpec$/);
});
