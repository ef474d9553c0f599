/** A right and a wrong object of each kind through the whole server: what is stored, and what the refusal says. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import type { Status } from '../../openapi/meta.js';
import { startNativeServer, type NativeServer } from '../apiserver/native-server.js';
import { requestOf, type Answer } from '../apiserver/test-server.js';
import { resourceOf } from './server.js';

let server: NativeServer;
let request: ReturnType<typeof requestOf>;

async function send(method: string, path: string, body: object): Promise<Answer> {
  return request(method, path, {
    token: 'admin',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  });
}

interface Sent {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: unknown;
}

function pathOf({ apiVersion, kind }: Pick<Sent, 'apiVersion' | 'kind'>, namespace: string): string {
  const resource = resourceOf(apiVersion, kind);
  assert.ok(resource !== undefined, kind);
  return `/apis/${apiVersion}/${resource.namespaced ? `namespaces/${namespace}/` : ''}${resource.plural}`;
}

const create = (object: Sent, namespace = 'default', query = ''): Promise<Answer> =>
  send('POST', `${pathOf(object, namespace)}${query}`, object);

const configuration = {
  developerConfiguration: { featureGates: ['IncrementalBackup', 'Plugins', 'MigrationStallDetection'] },
};

before(async () => {
  server = await startNativeServer();
  request = requestOf({ port: server.port, ca: server.authority.cert });
  const kubevirt = await create({
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt' },
    spec: { configuration, uninstallStrategy: 'BlockUninstallIfWorkloadsExist' },
  });
  assert.equal(kubevirt.status, 201, kubevirt.text);
  const vmi = await create({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name: 'web' },
    spec: { domain: { devices: {}, memory: { guest: '64Mi' } } },
  });
  assert.equal(vmi.status, 201, vmi.text);
});
after(() => server.close());

const vmReference = (name = 'web') => ({ apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name });
const guest = { domain: { devices: {}, memory: { guest: '64Mi' } } };
const lostDisk = {
  domain: { devices: { disks: [{ name: 'lost', disk: { bus: 'virtio' } }] }, memory: { guest: '64Mi' } },
};
const labels = { app: 'web' };
const selector = { matchLabels: labels };

interface Case {
  readonly apiVersion: string;
  readonly kind: string;
  readonly right: unknown;
  readonly wrong: unknown;
  /** `reason field` of each cause of the wrong one. */
  readonly causes: readonly string[];
}

const cases: readonly Case[] = [
  {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceReplicaSet',
    right: { selector, template: { metadata: { labels }, spec: guest } },
    wrong: { selector, template: { spec: lostDisk } },
    causes: [
      'FieldValueInvalid spec.template.spec.domain.devices.disks[0].name',
      'FieldValueInvalid spec.selector',
    ],
  },
  {
    apiVersion: 'pool.kubevirt.io/v1beta1',
    kind: 'VirtualMachinePool',
    right: {
      selector,
      virtualMachineTemplate: {
        metadata: { labels },
        spec: { runStrategy: 'Halted', template: { spec: guest } },
      },
    },
    wrong: {
      selector,
      maxUnavailable: '0%',
      virtualMachineTemplate: {
        metadata: { labels },
        spec: { runStrategy: 'Alwys', template: { spec: guest } },
      },
    },
    causes: [
      'FieldValueInvalid spec.virtualMachineTemplate.spec.runStrategy',
      'FieldValueInvalid spec.maxUnavailable',
    ],
  },
  {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstancePreset',
    right: { selector, domain: { devices: {}, cpu: { cores: 2 } } },
    wrong: { selector, domain: { devices: { disks: [{ name: 'a', disk: {}, cdrom: {} }] } } },
    causes: ['FieldValueInvalid spec.domain.devices.disks[0]'],
  },
  {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    right: { vmiName: 'web' },
    wrong: { priority: 'system-critical' },
    causes: ['FieldValueRequired spec.vmiName', 'FieldValueForbidden spec.priority'],
  },
  {
    apiVersion: 'migrations.kubevirt.io/v1alpha1',
    kind: 'MigrationPolicy',
    right: { selectors: {}, bandwidthPerMigration: '64Mi' },
    wrong: { selectors: {}, bandwidthPerMigration: '-1', completionTimeoutPerGiB: -1 },
    causes: [
      'FieldValueInvalid spec.completionTimeoutPerGiB',
      'FieldValueInvalid spec.bandwidthPerMigration',
    ],
  },
  {
    apiVersion: 'snapshot.kubevirt.io/v1beta1',
    kind: 'VirtualMachineSnapshot',
    right: { source: vmReference() },
    wrong: { source: { ...vmReference(), kind: 'VirtualMachineInstance' } },
    causes: ['FieldValueInvalid spec.source.kind'],
  },
  {
    apiVersion: 'snapshot.kubevirt.io/v1beta1',
    kind: 'VirtualMachineRestore',
    right: { target: vmReference(), virtualMachineSnapshotName: 'later' },
    wrong: {
      target: vmReference('other'),
      virtualMachineSnapshotName: 'later',
      volumeRestorePolicy: 'InPlac',
    },
    causes: ['FieldValueInvalid spec.volumeRestorePolicy'],
  },
  {
    apiVersion: 'export.kubevirt.io/v1',
    kind: 'VirtualMachineExport',
    right: { source: vmReference() },
    wrong: { source: { ...vmReference(), kind: 'VirtualMachineSnapsht' } },
    causes: ['FieldValueInvalid spec.source.kind'],
  },
  {
    apiVersion: 'clone.kubevirt.io/v1beta1',
    kind: 'VirtualMachineClone',
    right: { source: vmReference() },
    wrong: { source: vmReference(), target: vmReference(), labelFilters: ['a*b'] },
    causes: ['FieldValueInvalid spec.target.name', 'FieldValueInvalid spec.labelFilters[0]'],
  },
  {
    apiVersion: 'backup.kubevirt.io/v1alpha1',
    kind: 'VirtualMachineBackup',
    right: { source: vmReference(), pvcName: 'backups' },
    // The right one is not finished when this one comes.
    wrong: { source: vmReference(), pvcName: 'backups' },
    causes: ['FieldValueInvalid spec.source'],
  },
  {
    apiVersion: 'backup.kubevirt.io/v1alpha1',
    kind: 'VirtualMachineBackupTracker',
    right: { source: vmReference() },
    wrong: { source: { ...vmReference(), name: '' } },
    causes: ['FieldValueInvalid spec.source'],
  },
  {
    apiVersion: 'plugin.kubevirt.io/v1alpha1',
    kind: 'Plugin',
    right: {
      condition: 'has(vmi.metadata.labels)',
      domainHooks: [{ sidecar: { socketPath: '/run/a.sock' } }],
    },
    wrong: {
      condition: 'vm.spec == 1',
      domainHooks: [{ cel: { expression: '"text"' } }, { sidecar: { socketPath: '/run/../a.sock' } }],
    },
    causes: [
      'FieldValueInvalid spec.condition',
      'FieldValueInvalid spec.domainHooks[0].cel.expression',
      'FieldValueInvalid spec.domainHooks[1].sidecar.socketPath',
    ],
  },
];

for (const { apiVersion, kind, right, wrong, causes } of cases) {
  test(`${kind}: the right one is stored, the wrong one refused with every fault`, async () => {
    const stored = await create({ apiVersion, kind, metadata: { name: 'right' }, spec: right });
    assert.equal(stored.status, 201, stored.text);
    const refused = await create({ apiVersion, kind, metadata: { name: 'wrong' }, spec: wrong });
    assert.equal(refused.status, 422, refused.text);
    const status = JSON.parse(refused.text) as Status;
    assert.equal(status.reason, 'Invalid');
    const found = (status.details?.causes ?? []).map(({ reason = '', field = '' }) => `${reason} ${field}`);
    assert.deepEqual(found, causes, refused.text);
  });
}

test('objects without their parts are refused for that', async () => {
  for (const { apiVersion, kind, right } of cases) {
    // Any part of the right one may be missing, or be empty.
    const parts = right as Readonly<Record<string, unknown>>;
    const specs = Object.keys(parts).flatMap((name) => [
      { ...parts, [name]: undefined },
      { ...parts, [name]: {} },
      { ...parts, [name]: null },
    ]);
    for (const spec of [undefined, {}, null, ...specs]) {
      const answer = await create(
        { apiVersion, kind, metadata: { name: 'partial' }, spec },
        'default',
        '?dryRun=All',
      );
      assert.ok([201, 422, 400].includes(answer.status), `${kind} ${JSON.stringify(spec)}: ${answer.text}`);
    }
  }
});

test('what was ordered stays as it is', async () => {
  const kinds = [
    'VirtualMachineSnapshot',
    'VirtualMachineRestore',
    'VirtualMachineExport',
    'VirtualMachineClone',
  ];
  for (const { apiVersion, kind } of cases.filter((each) => kinds.includes(each.kind))) {
    const path = `${pathOf({ apiVersion, kind }, 'default')}/right`;
    const patch = (body: object): Promise<Answer> =>
      request('PATCH', path, {
        token: 'admin',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/merge-patch+json' },
      });
    const labelled = await patch({ metadata: { labels } });
    assert.equal(labelled.status, 200, labelled.text);
    const member = kind === 'VirtualMachineRestore' ? 'target' : 'source';
    const changed = await patch({ spec: { [member]: { name: 'another' } } });
    assert.equal(changed.status, 422, changed.text);
    assert.match(changed.text, /"field":"spec"/);
  }
});

test('defaults: a clone gets a target, a migration its label and finalizer', async () => {
  const read = async (apiVersion: string, kind: string): Promise<Record<string, unknown>> => {
    const answer = await request('GET', `${pathOf({ apiVersion, kind }, 'default')}/right`, {
      token: 'admin',
    });
    return answer.json();
  };
  const clone = await read('clone.kubevirt.io/v1beta1', 'VirtualMachineClone');
  const { target } = clone['spec'] as { target: { kind: string; name: string } };
  assert.equal(target.kind, 'VirtualMachine');
  assert.match(target.name, /^clone-web-[a-z0-9]{5}$/);
  const migration = await read('kubevirt.io/v1', 'VirtualMachineInstanceMigration');
  const { labels: set, finalizers } = migration['metadata'] as { labels: unknown; finalizers: unknown };
  assert.deepEqual(set, { 'kubevirt.io/vmi-name': 'web' });
  assert.deepEqual(finalizers, ['kubevirt.io/migrationJobFinalize']);
});

test('there is one KubeVirt; it warns, and outlives the workloads it is to protect', async () => {
  const kubevirt = { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt' };
  const second = await create({ ...kubevirt, metadata: { name: 'second' }, spec: {} });
  assert.equal(second.status, 400, second.text);
  const path = `${pathOf(kubevirt, 'default')}/kubevirt`;
  const removed = await request('DELETE', path, { token: 'admin' });
  assert.equal(removed.status, 400, removed.text);
  assert.match(removed.text, /VirtualMachineInstances/);
  const featureGates = [...configuration.developerConfiguration.featureGates, 'LiveMigration'];
  const warned = await request('PATCH', path, {
    token: 'admin',
    body: JSON.stringify({ spec: { configuration: { developerConfiguration: { featureGates } } } }),
    headers: { 'content-type': 'application/merge-patch+json' },
  });
  assert.equal(warned.status, 200, warned.text);
  assert.match(String(warned.headers.warning), /LiveMigration is always on/);
});
