/** Instancetypes and preferences of VMs: how they are found, and what they make of the VM's own spec. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { AdmissionLookups, AdmissionPlugin } from '../../apiserver/admission/interface.js';
import { virtualMachineDefaults } from '../../apiserver/admission/vm/mutate.js';
import { virtualMachineValidation } from '../../apiserver/admission/vm/validate.js';
import { ApiError } from '../../apiserver/errors/api-error.js';
import type { VirtualMachine, VirtualMachineSpec } from '../../openapi/generated/types/kubevirt_v1.js';
import type { KubernetesObject, StatusCause } from '../../openapi/meta.js';
import { contextOf, requestOf } from './vectors.js';

const plugins: readonly AdmissionPlugin[] = [
  virtualMachineDefaults({ uuid: () => 'a-uuid' }),
  virtualMachineValidation(() => false),
];

interface Outcome {
  readonly vm: VirtualMachine;
  readonly causes: readonly StatusCause[];
  readonly warnings: readonly string[];
}

/** By `plural/namespace/name`, as far as admission looks at objects. */
type Stored = Readonly<Record<string, object>>;

function lookupsOf(stored: Stored): AdmissionLookups {
  return {
    get: <T extends KubernetesObject>(
      ...[, plural, namespace = '', name]: Parameters<AdmissionLookups['get']>
    ) => {
      const content = stored[[plural, namespace, name].join('/')];
      return Promise.resolve(
        content === undefined ? undefined : ({ metadata: { name, namespace }, ...content } as unknown as T),
      );
    },
    list: () => Promise.resolve([]),
  };
}

async function admit(spec: Partial<VirtualMachineSpec>, stored: Stored): Promise<Outcome> {
  const warnings: string[] = [];
  const object = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: 'vm', namespace: 'default' },
    spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } }, ...spec },
    // Rows may leave out what the server would fill in.
  } as unknown as VirtualMachine;
  const resource = { group: 'kubevirt.io', version: 'v1', resource: 'virtualmachines' };
  const request = requestOf({ operation: 'CREATE', resource, object, allowed: true });
  const context = { ...contextOf({}, warnings), lookups: lookupsOf(stored) };
  const causes: StatusCause[] = [];
  try {
    for (const plugin of plugins) await plugin.mutate?.(request, context);
    for (const plugin of plugins) causes.push(...((await plugin.validate?.(request, context)) ?? []));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    assert.equal(error.code, 422);
    causes.push(...(error.details?.causes ?? []));
  }
  return { vm: request.object as VirtualMachine, causes, warnings };
}

const fields = ({ causes }: Outcome): (string | undefined)[] => causes.map(({ field }) => field);
const template = (spec: object): Pick<VirtualMachineSpec, 'template'> => ({
  template: { spec: { domain: { devices: {} }, ...spec } },
});

const small = { spec: { cpu: { guest: 2 }, memory: { guest: '1Gi' } } };
const instancetypes: Stored = {
  'virtualmachineclusterinstancetypes//small': small,
  'virtualmachineinstancetypes/default/own': small,
};

test('a reference means the cluster-wide kind unless it says otherwise, and conflicts are told by field', async () => {
  const memory = template({ domain: { devices: {}, memory: { guest: '2Gi' }, cpu: { cores: 1 } } });
  const conflicting = ['spec.template.spec.domain.cpu.cores', 'spec.template.spec.domain.memory.guest'];
  for (const instancetype of [
    { name: 'small' },
    { name: 'small', kind: 'VirtualMachineClusterInstancetype' },
    { name: 'own', kind: 'virtualmachineinstancetypes' },
  ]) {
    assert.deepEqual(fields(await admit({ instancetype, ...memory }, instancetypes)), conflicting);
    const { vm, causes } = await admit({ instancetype }, instancetypes);
    assert.deepEqual(causes, []);
    assert.equal(vm.spec.template.spec?.domain.memory, undefined, 'the stored VM keeps the reference only');
  }
});

test('a reference that leads nowhere is a warning', async () => {
  for (const [instancetype, warning] of [
    [{ name: 'gone' }, /VirtualMachineClusterInstancetype "gone" not found/],
    [{ name: 'small', kind: 'VirtualMachineInstancetype' }, /not found in namespace "default"/],
    [{ name: 'small', kind: 'VirtualMachineInstancetyp' }, /did you mean "VirtualMachineInstancetype"/],
    [{ name: 'small', revisionName: 'gone' }, /ControllerRevision "gone" not found/],
  ] as const) {
    const { causes, warnings } = await admit({ instancetype }, instancetypes);
    assert.deepEqual(causes, []);
    assert.match(warnings.join('\n'), warning);
  }
});

test('a copy counts instead of what it is a copy of', async () => {
  const data = {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: 'VirtualMachineClusterPreference',
    metadata: { name: 'os' },
    spec: { machine: { preferredMachineType: 'pc-q35-8.0' } },
  };
  const stored = {
    'virtualmachineclusterpreferences//os': { spec: { machine: { preferredMachineType: 'pc-q35-9.0' } } },
    'controllerrevisions/default/copy': { data },
    'controllerrevisions/default/other': { data: { ...data, kind: 'VirtualMachineInstancetype' } },
  };
  const machine = async (revisionName: string): Promise<string | undefined> =>
    (await admit({ preference: { name: 'os', revisionName } }, stored)).vm.spec.template.spec?.domain.machine
      ?.type;
  assert.equal(await machine(''), 'pc-q35-9.0');
  assert.equal(await machine('copy'), 'pc-q35-8.0');
  assert.equal(await machine('other'), 'q35', 'an instancetype is no preference');
});

test('a copy that is damaged is as good as none', async () => {
  const instancetype = { name: 'small', revisionName: 'copy' };
  const data = {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: 'VirtualMachineClusterInstancetype',
    metadata: { name: 'small' },
  };
  for (const spec of [undefined, {}, { ...small.spec, gpus: 'none' }, { ...small.spec, annotations: 5 }]) {
    const stored = { 'controllerrevisions/default/copy': { data: { ...data, spec } } };
    const { causes, warnings } = await admit({ instancetype }, stored);
    assert.deepEqual(causes, []);
    assert.match(warnings.join(), /"copy" holds no instancetype that can be read/);
  }
});

test('requirements of a preference are held against the machine as it will be', async () => {
  const preference = { name: 'needy' };
  const needy = (requirements: object, cpu = {}): Stored => ({
    ...instancetypes,
    'virtualmachineclusterpreferences//needy': { spec: { cpu, requirements } },
  });
  const instancetype = { name: 'small' };
  const of = async (requirements: object, spec: Partial<VirtualMachineSpec>, cpu = {}): Promise<unknown> =>
    fields(await admit({ preference, ...spec }, needy(requirements, cpu)));
  assert.deepEqual(await of({ cpu: { guest: 2 }, memory: { guest: '1Gi' } }, { instancetype }), []);
  assert.deepEqual(await of({ cpu: { guest: 3 }, memory: { guest: '2Gi' } }, { instancetype }), [
    'spec.instancetype',
    'spec.instancetype',
  ]);
  assert.deepEqual(await of({ architecture: 'arm64' }, {}), ['spec.template.spec.architecture']);
  assert.deepEqual(await of({ memory: { guest: '2Gi' } }, {}), ['spec.template.spec.domain.memory']);
  const cores = template({ domain: { devices: {}, cpu: { cores: 2 }, memory: { guest: '1Gi' } } });
  assert.deepEqual(await of({ cpu: { guest: 2 } }, cores), ['spec.template.spec.domain.cpu.sockets']);
  assert.deepEqual(await of({ cpu: { guest: 2 } }, cores, { preferredCPUTopology: 'cores' }), []);
  assert.deepEqual(await of({ cpu: { guest: 4 } }, cores, { preferredCPUTopology: 'any' }), [
    'spec.template.spec.domain.cpu',
  ]);
});

test('virtual CPUs that can not be spread are refused', async () => {
  const spread = (ratio: number): Stored => ({
    ...instancetypes,
    'virtualmachineclusterpreferences//wide': {
      spec: { cpu: { preferredCPUTopology: 'spread', spreadOptions: { ratio } } },
    },
  });
  const spec = { instancetype: { name: 'small' }, preference: { name: 'wide' } };
  assert.deepEqual(fields(await admit(spec, spread(2))), []);
  assert.deepEqual(fields(await admit(spec, spread(3))), ['spec.instancetype']);
});

const labelled = {
  metadata: {
    labels: {
      'instancetype.kubevirt.io/default-instancetype': 'own',
      'instancetype.kubevirt.io/default-instancetype-kind': 'VirtualMachineInstancetype',
      'instancetype.kubevirt.io/default-preference': 'os',
      'template.kubevirt.io/architecture': 'arm64',
    },
  },
};
const unlabelled = { metadata: {} };
const infer = { instancetype: { inferFromVolume: 'root' }, preference: { inferFromVolume: 'root' } };
const claim = (claimName: string): object => ({ name: 'root', persistentVolumeClaim: { claimName } });
const dataVolume = (name: string): object => ({ name: 'root', dataVolume: { name } });
const filledFrom = (source: object): Partial<VirtualMachineSpec> => ({
  dataVolumeTemplates: [
    { apiVersion: '', kind: '', metadata: { name: 'dv' }, spec: { storage: {}, ...source } },
  ] as unknown as NonNullable<VirtualMachineSpec['dataVolumeTemplates']>,
});

test('name and kind are inferred from whatever on the way of a volume has the labels', async () => {
  const fromDv = filledFrom({ sourceRef: { kind: 'DataSource', name: 'image', namespace: 'images' } });
  const ways: readonly [Partial<VirtualMachineSpec>, object, Stored][] = [
    [{}, claim('root'), { 'persistentvolumeclaims/default/root': labelled }],
    [{}, dataVolume('dv'), { 'datavolumes/default/dv': labelled }],
    [{}, dataVolume('dv'), { 'persistentvolumeclaims/default/dv': labelled }],
    [
      filledFrom({ source: { pvc: { name: 'golden', namespace: 'images' } } }),
      dataVolume('dv'),
      { 'persistentvolumeclaims/images/golden': labelled },
    ],
    [
      filledFrom({ source: { snapshot: { name: 'golden', namespace: 'images' } } }),
      dataVolume('dv'),
      { 'volumesnapshots/images/golden': labelled },
    ],
    [fromDv, dataVolume('dv'), { 'datasources/images/image': labelled }],
    [
      fromDv,
      dataVolume('dv'),
      {
        'datasources/images/image': {
          metadata: {},
          spec: { source: { pvc: { name: 'golden', namespace: 'images' } } },
        },
        'persistentvolumeclaims/images/golden': labelled,
      },
    ],
  ];
  for (const [spec, volume, stored] of ways) {
    const { vm } = await admit({ ...infer, ...spec, ...template({ volumes: [volume] }) }, stored);
    assert.deepEqual(vm.spec.instancetype, { name: 'own', kind: 'VirtualMachineInstancetype' });
    assert.deepEqual(vm.spec.preference, { name: 'os' });
  }
});

test('what can not be inferred is refused, or ignored where the volume only says nothing', async () => {
  const spec = template({ volumes: [claim('root')], domain: { devices: {}, memory: { guest: '1Gi' } } });
  const instancetype = { inferFromVolume: 'root', inferFromVolumeFailurePolicy: 'Ignore' };
  const field = ['spec.instancetype.inferFromVolume'];
  const silent = { 'persistentvolumeclaims/default/root': unlabelled };
  assert.deepEqual(
    fields(await admit({ instancetype: { inferFromVolume: 'root' }, ...spec }, silent)),
    field,
  );
  assert.deepEqual(fields(await admit({ instancetype: { inferFromVolume: 'rot' }, ...spec }, silent)), field);
  assert.deepEqual(fields(await admit({ instancetype, ...spec }, {})), field);
  const ignored = (await admit({ instancetype, ...spec }, silent)).vm;
  assert.equal(ignored.spec.instancetype, undefined);
  assert.deepEqual(ignored.spec.template.spec?.domain.memory, { guest: '1Gi' });
  const found = { ...instancetypes, 'persistentvolumeclaims/default/root': labelled };
  const inferred = await admit({ instancetype, ...spec }, found);
  assert.deepEqual(inferred.causes, []);
  assert.equal(
    inferred.vm.spec.template.spec?.domain.memory,
    undefined,
    'it was for when nothing is inferred',
  );
});

test('the architecture is that of the image that a disk is made from', async () => {
  const spec = filledFrom({ sourceRef: { kind: 'DataSource', name: 'image' } });
  const { vm } = await admit(
    { ...spec, ...template({ volumes: [dataVolume('dv')] }) },
    { 'datasources/default/image': labelled },
  );
  assert.equal(vm.spec.template.spec?.architecture, 'arm64');
});
