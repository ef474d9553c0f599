import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachine } from '../../../../openapi/generated/types/kubevirt_v1.js';
import { FieldPath } from '../../causes.js';
import { dataVolumeTemplateCauses, dataVolumeTemplateWarnings } from './data-volume-templates.js';

const source = { blank: {} };
const storage = { resources: { requests: { storage: '1Gi' } } };

/** The casts let a test leave out or misspell what the types require, as clients do. */
function machine(...templates: readonly object[]): VirtualMachine {
  return {
    metadata: { name: 'vm', namespace: 'default' },
    spec: {
      dataVolumeTemplates: templates,
      template: {
        spec: { domain: { devices: {} }, volumes: [{ name: 'root', dataVolume: { name: 'root' } }] },
      },
    },
  } as unknown as VirtualMachine;
}

function fields(vm: VirtualMachine, old?: VirtualMachine): (string | undefined)[] {
  return dataVolumeTemplateCauses(vm, old, FieldPath.of('spec')).map(({ field }) => field);
}

const root = (spec: object, metadata: object = {}): object => ({
  metadata: { name: 'root', ...metadata },
  spec,
});
const at = 'spec.dataVolumeTemplates[0]';

test('a template is filled in one way, into one claim', () => {
  assert.deepEqual(fields(machine(root({ storage, source }))), []);
  assert.deepEqual(fields(machine(root({ storage, sourceRef: { kind: 'DataSource', name: 'a' } }))), []);
  assert.deepEqual(
    fields(machine(root({ storage: { ...storage, dataSource: { kind: 'a', name: 'b' } } }))),
    [],
  );
  assert.deepEqual(fields(machine(root({ source }))), [`${at}.spec`]);
  assert.deepEqual(fields(machine(root({ source, storage, pvc: storage }))), [`${at}.spec`]);
  for (const faulty of [
    { storage },
    { storage, source: {} },
    { storage, source: { blank: {}, upload: {} } },
    { storage: { ...storage, dataSourceRef: { kind: 'a', name: 'b' } }, source },
  ])
    assert.deepEqual(fields(machine(root(faulty))), [`${at}.spec.source`]);
});

test('the words of its claim are known', () => {
  const pvc = { ...storage, accessModes: ['ReadWriteOnce', 'ReadWrite'], volumeMode: 'Blocks' };
  assert.deepEqual(fields(machine(root({ pvc, source }))), [
    `${at}.spec.pvc.volumeMode`,
    `${at}.spec.pvc.accessModes[1]`,
  ]);
});

test('it has a name that a volume uses, in the namespace of the VM', () => {
  assert.deepEqual(fields(machine({ spec: { storage, source } })), [`${at}.metadata.name`]);
  assert.deepEqual(fields(machine(root({ storage, source }, { name: 'other' }))), [at]);
  const elsewhere = machine(root({ storage, source }, { namespace: 'other' }));
  assert.deepEqual(fields(elsewhere), [`${at}.metadata.namespace`]);
  assert.deepEqual(fields(elsewhere, elsewhere), [], 'what was there before stays');
});

test('two templates of one name are doubted', () => {
  assert.deepEqual(dataVolumeTemplateWarnings(machine(root({ storage, source }))), []);
  assert.equal(
    dataVolumeTemplateWarnings(machine(root({ storage, source }), root({ storage, source }))).length,
    1,
  );
});
