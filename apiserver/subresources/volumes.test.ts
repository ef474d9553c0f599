/** `addvolume` and `removevolume` through the whole server. */
import test, { type TestContext } from 'node:test';
import assert from 'node:assert/strict';
import {
  alias,
  createVm,
  kubevirt,
  startServer,
  vmOf,
  type Fixture,
} from '../../test/apiserver/subresources.js';
import type { Answer } from '../../test/apiserver/test-server.js';

const json = { 'content-type': 'application/json' };
const path = `${alias}/virtualmachines/a`;
const data = {
  name: 'data',
  disk: { name: 'ignored', disk: { bus: 'scsi' } },
  volumeSource: { persistentVolumeClaim: { claimName: 'claim' } },
};

async function started(t: TestContext, featureGates: readonly string[] = []): Promise<Fixture> {
  const server = await startServer(t);
  const developerConfiguration = { featureGates: [...featureGates] };
  const answer = await server.create('/apis/kubevirt.io/v1/namespaces/default/kubevirts', {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt' },
    spec: { configuration: { developerConfiguration } },
  });
  assert.equal(answer.status, 201, answer.text);
  await createVm(server, 'a', 'Halted');
  return server;
}

const put = (server: Fixture, name: string, body: object): Promise<Answer> =>
  server.request('PUT', `${path}/${name}`, { token: 'admin', headers: json, body: JSON.stringify(body) });

async function shown(server: Fixture): Promise<unknown> {
  const vm = await vmOf(server, 'a');
  const { volumes, domain } = vm?.spec.template.spec ?? {};
  return {
    volumes: volumes?.map(({ name }) => name) ?? [],
    disks: domain?.devices.disks?.map(({ name }) => name) ?? [],
    requests: vm?.status?.volumeRequests?.length ?? 0,
  };
}

async function setStatus(server: Fixture, status: object): Promise<void> {
  const answer = await server.request('PATCH', `${kubevirt}/virtualmachines/a/status`, {
    token: 'admin',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ status }),
  });
  assert.equal(answer.status, 200, answer.text);
}

test('a volume is added to the template and removed again; a dry run changes nothing', async (t) => {
  const server = await started(t);
  assert.equal((await put(server, 'addvolume', { ...data, dryRun: ['All'] })).status, 202);
  assert.deepEqual(await shown(server), { volumes: [], disks: [], requests: 0 });
  const added = await put(server, 'addvolume', data);
  assert.deepEqual([added.status, added.text, added.headers.warning], [202, '', undefined]);
  assert.deepEqual(await shown(server), { volumes: ['data'], disks: ['data'], requests: 0 });
  const vm = await vmOf(server, 'a');
  assert.deepEqual(vm?.spec.template.spec?.volumes?.[0]?.persistentVolumeClaim, {
    claimName: 'claim',
    hotpluggable: true,
  });
  assert.equal((await put(server, 'removevolume', { name: 'data' })).status, 202);
  assert.deepEqual(await shown(server), { volumes: [], disks: [], requests: 0 });
});

test('who has a guest running is warned that it is left as it is', async (t) => {
  const server = await started(t);
  await setStatus(server, { created: true });
  const added = await put(server, 'addvolume', data);
  assert.equal(added.status, 202);
  assert.match(String(added.headers.warning), /restart the VM/);
});

test('with HotplugVolumes a request is left for the controller, and one that is open stands for itself', async (t) => {
  const server = await started(t, ['HotplugVolumes']);
  assert.equal((await put(server, 'addvolume', data)).status, 202);
  assert.deepEqual(await shown(server), { volumes: [], disks: [], requests: 1 });
  const again = await put(server, 'addvolume', data);
  assert.equal(again.status, 409);
  assert.match(again.text, /still being carried out/);
  assert.equal((await put(server, 'removevolume', { name: 'data' })).status, 202);
  assert.deepEqual(await shown(server), { volumes: [], disks: [], requests: 0 }, 'called off');
});

test('admission judges what a request would make of the VM', async (t) => {
  const server = await started(t, ['HotplugVolumes']);
  const refused = await put(server, 'addvolume', { ...data, disk: { name: 'data', disk: { bus: 'sata' } } });
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.text, /bus/);
});

test('what does not fit is refused', async (t) => {
  const server = await started(t);
  assert.equal((await put(server, 'addvolume', data)).status, 202);
  const { name, disk, volumeSource } = data;
  const source = (claimName: string) => ({ persistentVolumeClaim: { claimName } });
  const table: readonly (readonly [string, object, number, RegExp])[] = [
    ['addvolume', { disk, volumeSource }, 422, /name/],
    ['addvolume', { name: '', disk, volumeSource }, 400, /name/],
    ['addvolume', { name, volumeSource }, 422, /disk/],
    ['addvolume', { name, disk, volumeSource: {} }, 400, /volumeSource/],
    ['addvolume', { name, disk, volumeSource: source('other') }, 409, /has a volume data already/],
    ['addvolume', { name: 'more', disk, volumeSource }, 409, /claim is already used by the VM's volume data/],
    ['removevolume', { name: '' }, 400, /name/],
    ['removevolume', { name: 'none' }, 409, /has no volume none/],
  ];
  for (const [action, body, status, message] of table) {
    const answer = await put(server, action, body);
    assert.equal(answer.status, status, `${action} ${JSON.stringify(body)}: ${answer.text}`);
    assert.match(answer.text, message);
  }
  const unknown = await server.request('PUT', `${alias}/virtualmachines/b/addvolume`, {
    token: 'admin',
    headers: json,
    body: JSON.stringify(data),
  });
  assert.equal(unknown.status, 404);
});

test('a volume that the VM was made with is not for removevolume', async (t) => {
  const server = await started(t);
  await server.request('PATCH', `${kubevirt}/virtualmachines/a`, {
    token: 'admin',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({
      spec: {
        template: {
          spec: {
            volumes: [{ name: 'root', persistentVolumeClaim: { claimName: 'root' } }],
            domain: { devices: { disks: [{ name: 'root', disk: {} }] } },
          },
        },
      },
    }),
  });
  const refused = await put(server, 'removevolume', { name: 'root' });
  assert.equal(refused.status, 409);
  assert.match(refused.text, /not hotpluggable/);
});

test('without the feature gates nobody changes volumes this way', async (t) => {
  const server = await startServer(t);
  await server.create('/apis/kubevirt.io/v1/namespaces/default/kubevirts', {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt' },
    spec: {
      configuration: { developerConfiguration: { disabledFeatureGates: ['DeclarativeHotplugVolumes'] } },
    },
  });
  await createVm(server, 'a', 'Halted');
  const refused = await put(server, 'addvolume', data);
  assert.equal(refused.status, 400);
  assert.match(refused.text, /feature gate/);
});
