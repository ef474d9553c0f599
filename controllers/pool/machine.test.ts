import assert from 'node:assert/strict';
import test from 'node:test';
import type { Volume } from '../../openapi/generated/types/kubevirt_v1.js';
import { mergePatch } from '../../openapi/merge-patch.js';
import { guest } from '../testing/harness.js';
import { changeBetween, numbered, type Design } from './machine.js';

/** Templates have no identity, though their type knows the fields. */
const unnamed = { name: '', uid: '', resourceVersion: '', creationTimestamp: '' };

const volumes: Volume[] = [
  { name: 'own', dataVolume: { name: 'disk' } },
  { name: 'ownClaim', persistentVolumeClaim: { claimName: 'disk' } },
  { name: 'sharedClaim', persistentVolumeClaim: { claimName: 'data' } },
  { name: 'config', configMap: { name: 'settings' } },
  { name: 'secret', secret: { secretName: 'keys' } },
  {
    name: 'noCloud',
    cloudInitNoCloud: { secretRef: { name: 'user' }, networkDataSecretRef: { name: 'net' } },
  },
  { name: 'configDrive', cloudInitConfigDrive: { secretRef: { name: 'user' } } },
  { name: 'text', cloudInitNoCloud: { userData: '#cloud-config' } },
];

function design(nameGeneration?: Design['nameGeneration']): Design {
  return {
    virtualMachineTemplate: {
      metadata: { ...unnamed, labels: { app: 'web' }, annotations: { note: 'a' } },
      spec: {
        runStrategy: 'Always',
        dataVolumeTemplates: [
          {
            apiVersion: 'cdi.kubevirt.io/v1beta1',
            kind: 'DataVolume',
            metadata: { ...unnamed, name: 'disk' },
            spec: {},
          },
        ],
        template: { spec: { ...guest(), volumes } },
      },
    },
    ...(nameGeneration === undefined ? {} : { nameGeneration }),
  };
}

const named = (each: Design, ordinal: number): Volume[] =>
  numbered(each, ordinal).template.spec?.volumes ?? [];

test('what a VM has to itself carries its number', () => {
  const [own, ownClaim, ...others] = named(design(), 7);
  assert.equal(numbered(design(), 7).dataVolumeTemplates?.[0]?.metadata.name, 'disk-7');
  assert.equal(own?.dataVolume?.name, 'disk-7');
  assert.equal(ownClaim?.persistentVolumeClaim?.claimName, 'disk-7');
  assert.deepEqual(others, volumes.slice(2));
});

test('names of ConfigMaps and Secrets carry it where the pool says so', () => {
  const [, , , configMap, secret] = named(design({ appendIndexToConfigMapRefs: true }), 7);
  assert.equal(configMap?.configMap?.name, 'settings-7');
  assert.equal(secret?.secret?.secretName, 'keys');
  const [, , , shared, ...secrets] = named(design({ appendIndexToSecretRefs: true }), 7);
  assert.equal(shared?.configMap?.name, 'settings');
  assert.deepEqual(secrets, [
    { name: 'secret', secret: { secretName: 'keys-7' } },
    {
      name: 'noCloud',
      cloudInitNoCloud: { secretRef: { name: 'user-7' }, networkDataSecretRef: { name: 'net-7' } },
    },
    { name: 'configDrive', cloudInitConfigDrive: { secretRef: { name: 'user-7' } } },
    { name: 'text', cloudInitNoCloud: { userData: '#cloud-config' } },
  ]);
});

test('the change between two designs leaves alone what neither says', () => {
  const before = { name: 'web-1', design: design() };
  const changed = design({ appendIndexToSecretRefs: true });
  changed.virtualMachineTemplate.metadata = { ...unnamed, labels: { app: 'web', tier: 'front' } };
  const { spec } = before.design.virtualMachineTemplate;
  assert.ok(spec?.template.spec);
  spec.template.spec.domain.firmware = { acpi: { slicNameRef: 'slic' } };
  const after = { name: 'web-2', design: changed };
  const { domain, ...rest } = guest();
  const firmware = { uuid: 'identity', acpi: { slicNameRef: 'slic' } };
  const vm = {
    metadata: { labels: { app: 'web', team: 'x' }, annotations: { note: 'a', other: 'b' } },
    spec: {
      runStrategy: 'Halted',
      template: {
        spec: { ...rest, domain: { ...domain, firmware }, architecture: 'amd64', volumes },
      },
    },
  };
  const result = mergePatch(vm, changeBetween(before, after, 0)) as typeof vm;
  assert.deepEqual(result.metadata, {
    labels: { app: 'web', team: 'x', tier: 'front', 'kubevirt.io/vm-pool-revision-name': 'web-2' },
    annotations: { other: 'b' },
  });
  assert.equal(result.spec.runStrategy, 'Halted');
  assert.equal(result.spec.template.spec.architecture, 'amd64');
  assert.deepEqual(result.spec.template.spec.domain.firmware, { uuid: 'identity' });
  assert.equal(result.spec.template.spec.volumes[4]?.secret?.secretName, 'keys-0');
});

test('with the former design lost, all of the new one is set', () => {
  const vm = { spec: { runStrategy: 'Halted', updateVolumesStrategy: 'Replacement' } };
  const result = mergePatch(vm, changeBetween(undefined, { name: 'web-2', design: design() }, 0));
  const { spec } = result as typeof vm;
  assert.deepEqual([spec.runStrategy, spec.updateVolumesStrategy], ['Always', 'Replacement']);
});
