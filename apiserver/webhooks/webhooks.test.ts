import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { startNativeServer, type NativeServer } from '../../test/apiserver/native-server.js';
import { requestOf, type Answer } from '../../test/apiserver/test-server.js';
import { serverActor } from '../subresources/server-user.js';
import { webhookPaths } from './webhooks.js';

let server: NativeServer;
let request: ReturnType<typeof requestOf>;

const json = { 'content-type': 'application/json' };
const post = (path: string, body: object, token = 'admin'): Promise<Answer> =>
  request('POST', path, { token, body: JSON.stringify(body), headers: json });

interface Review {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: { readonly code: number; readonly message: string };
  readonly patchType?: string;
  readonly patch?: string;
}

async function review(path: string, asked: object): Promise<Review> {
  const answer = await post(path, {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'a-uid', namespace: 'default', ...asked },
  });
  assert.equal(answer.status, 200, answer.text);
  const { response } = answer.json() as unknown as { response: Review };
  assert.equal(response.uid, 'a-uid');
  return response;
}

const target = {
  group: 'kubevirt.io',
  resource: 'virtualmachineinstances',
  namespace: 'default',
  name: 'web',
};
const launcherPod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    labels: { 'kubevirt.io': 'virt-launcher' },
    annotations: { 'kubevirt.io/domain': 'web' },
    ownerReferences: [
      { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'web', uid: 'u' },
    ],
  },
  spec: {
    nodeName: 'node-1',
    containers: [
      { name: 'compute', image: 'launcher', volumeMounts: [{ name: 'token', mountPath: '/var/run/token' }] },
    ],
    volumes: [{ name: 'token', secret: { secretName: 'token' } }],
  },
});

before(async () => {
  server = await startNativeServer();
  request = requestOf({ port: server.port, ca: server.authority.cert });
  const kubevirt = await post('/apis/kubevirt.io/v1/namespaces/default/kubevirts', {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt' },
    spec: { configuration: { developerConfiguration: { featureGates: ['ContainerPathVolumes'] } } },
  });
  assert.equal(kubevirt.status, 201, kubevirt.text);
  const vmi = await post('/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances', {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name: 'web' },
    spec: {
      evictionStrategy: 'LiveMigrate',
      domain: { devices: { filesystems: [{ name: 'token', virtiofs: {} }] }, memory: { guest: '64Mi' } },
      volumes: [{ name: 'token', containerPath: { path: '/var/run/token', readOnly: true } }],
    },
  });
  assert.equal(vmi.status, 201, vmi.text);
  await server.registry.guaranteedUpdate<VirtualMachineInstance>(
    target,
    (object) => {
      object.status = {
        ...object.status,
        nodeName: 'node-1',
        conditions: [{ type: 'LiveMigratable', status: 'True' }],
      };
    },
    serverActor('status', false),
  );
});
after(() => server.close());

test('a new launcher pod gets the containers that share its directories', async () => {
  const asked = { resource: { group: '', version: 'v1', resource: 'pods' }, operation: 'CREATE' };
  const { patch = '', patchType } = await review(webhookPaths.launcherPods, {
    ...asked,
    object: launcherPod('a'),
  });
  assert.equal(patchType, 'JSONPatch');
  const operations = JSON.parse(Buffer.from(patch, 'base64').toString()) as {
    op: string;
    path: string;
    value: { name: string };
  }[];
  assert.deepEqual(
    operations.map(({ op, path, value }) => `${op} ${path} ${value.name}`),
    ['add /spec/containers/- virtiofs-token'],
  );
  const other = { ...launcherPod('b'), metadata: { name: 'b' } };
  const untouched = await review(webhookPaths.launcherPods, { ...asked, object: other });
  assert.deepEqual(untouched, { uid: 'a-uid', allowed: true });
});

test('standalone, the same is part of the write path', async () => {
  const created = await post('/api/v1/namespaces/default/pods', launcherPod('virt-launcher-web'));
  assert.equal(created.status, 201, created.text);
  const { containers } = created.json()['spec'] as { containers: { name: string }[] };
  assert.deepEqual(
    containers.map(({ name }) => name),
    ['compute', 'virtiofs-token'],
  );
});

test('an eviction of the pod of a migratable guest is refused, and the guest marked to leave', async () => {
  const eviction = {
    name: 'virt-launcher-web',
    resource: { group: '', version: 'v1', resource: 'pods' },
    subResource: 'eviction',
    operation: 'CREATE',
    object: {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: 'virt-launcher-web', annotations: { 'requested-by': 'sigs.k8s.io/descheduler' } },
    },
  };
  const marked = async (): Promise<VirtualMachineInstance | undefined> =>
    server.registry.get<VirtualMachineInstance>(target);
  const tried = await review(webhookPaths.podEvictions, { ...eviction, dryRun: true });
  assert.equal(tried.allowed, false);
  assert.equal((await marked())?.status?.evacuationNodeName, undefined, 'a dry run marks nothing');
  const { allowed, status } = await review(webhookPaths.podEvictions, eviction);
  assert.equal(allowed, false);
  assert.equal(status?.code, 429);
  assert.match(status.message, /^Eviction triggered evacuation of VMI "default\/web"$/);
  const vmi = await marked();
  assert.equal(vmi?.status?.evacuationNodeName, 'node-1');
  assert.equal(vmi.metadata.annotations?.['kubevirt.io/eviction-source'], 'descheduler');
  const again = await review(webhookPaths.podEvictions, eviction);
  assert.match(again.status?.message ?? '', /^Evacuation in progress/);
  assert.ok((await review(webhookPaths.podEvictions, { ...eviction, name: 'unknown' })).allowed);
});

test('what is no review is refused, and so is who may not ask', async () => {
  for (const body of [{}, { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }]) {
    assert.equal((await post(webhookPaths.podEvictions, body)).status, 400);
  }
  assert.equal((await request('GET', webhookPaths.podEvictions, { token: 'admin' })).status, 405);
  assert.equal((await post(webhookPaths.podEvictions, {}, 'bob')).status, 403);
});
