import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachineInstanceSpec } from '../../../openapi/generated/types/kubevirt_v1.js';
import { FieldPath } from '../causes.js';
import { defaultConfiguration } from '../configuration/defaults.js';
import { specWarnings } from './warnings.js';

const warningsOf = (spec: VirtualMachineInstanceSpec): string[] =>
  specWarnings(spec, FieldPath.of('spec'), defaultConfiguration);
const withCpu = (model: string, architecture = 'amd64'): string[] =>
  warningsOf({ architecture, domain: { cpu: { model }, devices: {} } });

test('CPU models that nobody makes are doubted, with the word that was meant', () => {
  for (const model of [
    'host-model',
    'host-passthrough',
    'Haswell',
    'Haswell-noTSX-IBRS',
    'EPYC-Rome-v2',
    'qemu64',
  ])
    assert.deepEqual(withCpu(model), [], model);
  assert.match(withCpu('Hasswell')[0] ?? '', /^spec\.domain\.cpu\.model: .*did you mean "Haswell"\?$/);
  assert.match(withCpu('no-such-processor')[0] ?? '', /"no-such-processor", and no node have it$/);
  assert.deepEqual(withCpu('z15', 's390x'), []);
});

test('memory that leaves nothing to the guest, or nothing to QEMU', () => {
  assert.match(warningsOf({ domain: { memory: { guest: '0' }, devices: {} } })[0] ?? '', /no guest starts$/);
  const domain = { memory: { guest: '1Gi' }, devices: {} };
  assert.deepEqual(warningsOf({ domain }), []);
  assert.match(
    warningsOf({ domain: { ...domain, resources: { limits: { memory: '1024Mi' } } } })[0] ?? '',
    /^spec\.domain\.resources\.limits\.memory equals the guest memory/,
  );
});

test('network data of cloud-init goes with user data', () => {
  const volumes = [{ name: 'seed', cloudInitNoCloud: { networkData: 'version: 2' } }];
  assert.match(
    warningsOf({ domain: { devices: {} }, volumes })[0] ?? '',
    /^spec\.volumes\[0\] has network data/,
  );
});

test('deprecated feature gates are named', () => {
  const configuration = {
    developerConfiguration: { featureGates: ['HotplugVolumes', 'Snapshot', 'NoSuchGate'] },
  };
  assert.deepEqual(specWarnings({ domain: { devices: {} } }, FieldPath.of('spec'), configuration), [
    'the feature gate HotplugVolumes is deprecated',
  ]);
});
