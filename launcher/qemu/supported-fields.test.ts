import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachineInstanceSpec } from '../../openapi/generated/types/kubevirt_v1.js';
import { smallVmi } from '../../test/fake-qemu/launcher-process.js';
import { fieldRules } from './field-rules.js';
import { refuseUnsupported } from './supported-fields.js';
import { examples } from './testdata/specs.js';

type Domain = VirtualMachineInstanceSpec['domain'];

const refuse =
  (domain: Partial<Domain>, more: Partial<VirtualMachineInstanceSpec> = {}) =>
  () =>
    refuseUnsupported(smallVmi('u', { domain: { devices: {}, ...domain }, ...more }));

test('what the examples use is supported', () => {
  for (const { spec } of examples) refuseUnsupported(smallVmi('u', spec));
});

test('a field that cannot be honoured is refused by its path', () => {
  const cases: [domain: Partial<Domain>, path: string][] = [
    [{ devices: { gpus: [{ name: 'g', requestName: 'd' }] } }, 'spec.domain.devices.gpus[0].requestName'],
    [
      { devices: { watchdog: { name: 'w', diag288: { action: 'reset' } } } },
      'spec.domain.devices.watchdog.diag288',
    ],
    [{ features: { apic: { enabled: false } } }, 'spec.domain.features.apic.enabled'],
    [
      { devices: { disks: [{ name: 'd', disk: {}, changedBlockTracking: true }] } },
      'spec.domain.devices.disks[0].changedBlockTracking',
    ],
    [
      {
        devices: {
          interfaces: [
            { name: 'a', masquerade: {} },
            { name: 'b', macvtap: {} },
          ],
        },
      },
      'spec.domain.devices.interfaces[1].macvtap',
    ],
  ];
  for (const [domain, path] of cases) {
    assert.throws(refuse(domain), (error) => {
      assert.ok(error instanceof Error);
      assert.equal(error.message.slice(0, path.length + 1), `${path} `);
      return true;
    });
  }
});

test('a field that no rule knows is refused', () => {
  // A field of a later version, which the types do not have.
  const later = { devices: {}, novelty: { level: 1 } } as Domain;
  assert.throws(refuse(later), { message: /^spec\.domain\.novelty\.level / });
});

test('a switch that is off asks for nothing', () => {
  assert.doesNotThrow(refuse({ devices: { tpm: { enabled: false }, autoattachVSOCK: false } }));
  assert.doesNotThrow(refuse({ firmware: {}, clock: { timer: {} }, cpu: { features: [] } }));
});

test('what others honour passes', () => {
  assert.doesNotThrow(
    refuse(
      {},
      { nodeSelector: { a: 'b' }, tolerations: [{ key: 'x' }], evictionStrategy: 'None', hostname: 'h' },
    ),
  );
});

test('no field is in the table twice', () => {
  const paths = fieldRules.map(({ path }) => path);
  assert.equal(new Set(paths).size, paths.length);
});
