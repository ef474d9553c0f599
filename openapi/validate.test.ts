import assert from 'node:assert/strict';
import test from 'node:test';
import { loadDefinitions } from './definitions.js';
import type { StatusCause } from './meta.js';
import type { Definitions } from './schema.js';
import { compileValidator, maximumCauses } from './validate.js';

const all = loadDefinitions();
const validateVm = compileValidator(all, 'io.kubevirt.v1.VirtualMachine');

interface Vm {
  metadata: Record<string, unknown>;
  spec: { template: { spec: Record<string, unknown> & { domain: Record<string, unknown> } } };
}

function vm(spec: Record<string, unknown> = {}, domain: Record<string, unknown> = {}): Vm {
  return {
    metadata: { name: 'a' },
    spec: { template: { spec: { domain: { devices: {}, ...domain }, ...spec } } },
  };
}

const brief = (causes: readonly StatusCause[]): string[] =>
  causes.map(({ reason, field }) => `${reason ?? ''} ${field ?? ''}`);
const rulesSkipped = 'FieldValueInvalid <nil>';
const template = 'spec.template.spec';

test('a good object has no faults', () => {
  const good = vm(
    { nodeSelector: { a: 'b' }, terminationGracePeriodSeconds: 0 },
    { memory: { guest: '1.5Gi' }, resources: { requests: { cpu: 1, memory: '1Gi' } }, cpu: { cores: 2 } },
  );
  assert.deepEqual(validateVm(good), []);
});

test('recorded answers', () => {
  const validate = compileValidator(all, 'io.kubevirt.instancetype.v1beta1.VirtualMachineInstancetype');
  const instancetype = (spec: unknown): StatusCause[] => validate({ metadata: { name: 'a' }, spec });
  assert.deepEqual(instancetype({ cpu: { guest: 'one' }, memory: { guest: '1Gi' } }), [
    {
      reason: 'FieldValueTypeInvalid',
      message: 'Invalid value: "string": spec.cpu.guest in body must be of type integer: "string"',
      field: 'spec.cpu.guest',
    },
  ]);
  assert.deepEqual(instancetype({ cpu: { guest: 1 } }), [
    { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.memory' },
  ]);
  const [cause] = instancetype({ cpu: { guest: 1 }, memory: { guest: 'lots' } });
  assert.match(
    cause?.message ?? '',
    /^Invalid value: "lots": spec\.memory\.guest in body should match '\^\(/,
  );
  assert.equal(cause?.reason, 'FieldValueInvalid');
});

test('each kind of fault has its reason, and paths have indexes', () => {
  const cases: readonly (readonly [Vm, readonly string[]])[] = [
    [
      vm({ terminationGracePeriodSeconds: 'x' }),
      [`FieldValueTypeInvalid ${template}.terminationGracePeriodSeconds`],
    ],
    [vm({ nodeSelector: { 'a/b~c': 5 } }), [`FieldValueTypeInvalid ${template}.nodeSelector.a/b~c`]],
    [vm({ volumes: [{ name: 'a' }, { name: null }] }), [`FieldValueTypeInvalid ${template}.volumes[1].name`]],
    [vm({ volumes: [{}] }), [`FieldValueRequired ${template}.volumes[0].name`]],
    [vm({ dnsPolicy: 'Fake' }), [`FieldValueNotSupported ${template}.dnsPolicy`]],
    [
      vm({ volumes: Array.from({ length: 257 }, (_, index) => ({ name: `v${index}` })) }),
      [`FieldValueTooMany ${template}.volumes`],
    ],
    [
      vm({}, { memory: { guest: true } }),
      [`FieldValueTypeInvalid ${template}.domain.memory.guest`, rulesSkipped],
    ],
  ];
  for (const [object, expected] of cases)
    assert.deepEqual(
      brief(validateVm(object)),
      [...expected, rulesSkipped],
      JSON.stringify(object).slice(0, 200),
    );
});

test('numbers outside their format', () => {
  assert.deepEqual(brief(validateVm(vm({}, { cpu: { cores: 2 ** 31 } }))), [rulesSkipped]);
  assert.deepEqual(brief(validateVm(vm({}, { cpu: { cores: 1.5 } }))), [
    `FieldValueTypeInvalid ${template}.domain.cpu.cores`,
    rulesSkipped,
  ]);
});

test('list maps and sets hold each key once', () => {
  const claims = [{ name: 'a' }, { name: 'b' }, { name: 'a' }];
  const [cause] = validateVm(vm({ resourceClaims: claims }));
  assert.deepEqual(cause, {
    reason: 'FieldValueDuplicate',
    message: 'Duplicate value: {"name":"a"}',
    field: `${template}.resourceClaims[2]`,
  });
});

test('metadata is not held to the uniqueness and requirements of custom resources', () => {
  const object = vm();
  object.metadata['finalizers'] = ['a', 'a'];
  object.metadata['ownerReferences'] = [{ kind: 'X' }];
  assert.deepEqual(validateVm(object), []);
  object.metadata['labels'] = { a: 1 };
  assert.deepEqual(brief(validateVm(object)), ['FieldValueTypeInvalid metadata.labels.a', rulesSkipped]);
});

test('validation rules', () => {
  const path = (containerPath: Record<string, unknown>): StatusCause[] =>
    validateVm(vm({ volumes: [{ name: 'a', containerPath }] }));
  assert.deepEqual(path({ path: '/a', readOnly: true }), []);
  assert.deepEqual(brief(path({ path: 'a/../b', readOnly: false })), [
    `FieldValueInvalid ${template}.volumes[0].containerPath.path`,
    `FieldValueInvalid ${template}.volumes[0].containerPath.path`,
    `FieldValueInvalid ${template}.volumes[0].containerPath.readOnly`,
  ]);
});

test('transition rules compare with the old object', () => {
  const validate = compileValidator(all, 'io.kubevirt.backup.v1alpha1.VirtualMachineBackup');
  const backup = (pvcName: string): unknown => ({
    metadata: { name: 'a' },
    spec: { pvcName, source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'vm' } },
  });
  assert.deepEqual(validate(backup('a')), []);
  assert.deepEqual(validate(backup('a'), backup('a')), []);
  assert.deepEqual(validate(backup('b'), backup('a')), [
    {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: spec is immutable after creation',
      field: 'spec',
    },
  ]);
  const wrong = validate({
    spec: { mode: 'Pull', source: { apiGroup: 'kubevirt.io', kind: 'Pod', name: '' } },
  });
  assert.deepEqual(wrong.map(({ message }) => message?.replace('Invalid value: ', '')).sort(), [
    'kind must be VirtualMachine for kubevirt.io or VirtualMachineBackupTracker for backup.kubevirt.io',
    'name is required',
    'pvcName is required',
    'tokenSecretRef is required when mode is Pull',
  ]);
});

test('an update is not blamed for what it leaves as it was', () => {
  const old = vm({ volumes: [{}], dnsPolicy: 'Fake' });
  const relabelled = structuredClone(old);
  relabelled.metadata['labels'] = { a: 'b' };
  assert.deepEqual(validateVm(relabelled, old), []);
  const changed = vm({ volumes: [{}, {}], dnsPolicy: 'Fake' });
  assert.deepEqual(brief(validateVm(changed, old)), [
    `FieldValueRequired ${template}.volumes[0].name`,
    `FieldValueRequired ${template}.volumes[1].name`,
    rulesSkipped,
  ]);
});

test('an update is not blamed for faults that are told of the whole object either', () => {
  const old = vm({}, { cpu: { cores: 2 ** 31 }, memory: { guest: true } });
  const relabelled = structuredClone(old);
  relabelled.metadata['labels'] = { a: 'b' };
  assert.deepEqual(validateVm(relabelled, old), []);
});

test('items of list maps are compared with the item of the same key', () => {
  const old = vm({ resourceClaims: [{ name: 'a', resourceClaimName: 1 }] });
  const moved = vm({ resourceClaims: [{ name: 'b' }, { name: 'a', resourceClaimName: 1 }] });
  assert.deepEqual(validateVm(moved, old), []);
  const renamed = vm({ resourceClaims: [{ name: 'b', resourceClaimName: 1 }] });
  assert.equal(validateVm(renamed, old).length, 2);
});

test('the number of causes is bounded', () => {
  const many = vm({ volumes: Array.from({ length: 200 }, () => ({ name: 1 })) });
  assert.equal(validateVm(many).length, maximumCauses);
});

test('core kinds enforce their enumerations, kinds that embed core types do not', () => {
  const tolerations = [{ key: 'a', operator: 'Near' }];
  const pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'c' }], tolerations } };
  assert.deepEqual(brief(compileValidator(all, 'io.k8s.api.core.v1.Pod')(pod)), [
    'FieldValueNotSupported spec.tolerations[0].operator',
  ]);
  assert.deepEqual(validateVm(vm({ tolerations })), []);
});

test('formats', () => {
  const validate = compileValidator(all, 'io.k8s.api.core.v1.Secret');
  assert.deepEqual(validate({ data: { a: 'aGVsbG8=' } }), []);
  assert.deepEqual(brief(validate({ data: { a: '?' } })), ['FieldValueTypeInvalid data.a']);
  const metadata = (creationTimestamp: string): StatusCause[] =>
    validate({ metadata: { creationTimestamp } });
  assert.deepEqual(metadata('2026-01-02T03:04:05Z'), []);
  for (const time of ['yesterday', '2026-13-02T03:04:05Z', '2026-01-02'])
    assert.deepEqual(brief(metadata(time)), ['FieldValueTypeInvalid metadata.creationTimestamp'], time);
});

test('a rule without an implementation stops the compilation', () => {
  const definitions: Definitions = {
    A: { type: 'object', 'x-kubernetes-validations': [{ rule: 'self.size() > 3' }] },
  };
  assert.throws(() => compileValidator(definitions, 'A'), /no implementation of the rule self\.size\(\) > 3/);
});

test('every definition compiles, and words its faults', () => {
  for (const name of Object.keys(all)) compileValidator(all, name)(undefined);
});
