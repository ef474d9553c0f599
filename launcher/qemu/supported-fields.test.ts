import assert from 'node:assert/strict';
import test from 'node:test';
import type { VirtualMachineInstanceSpec } from '../../openapi/generated/types/kubevirt_v1.js';
import { smallVmi } from '../../test/fake-qemu/launcher-process.js';
import { refuseUnsupported, supportedFields } from './supported-fields.js';
import { examples } from './testdata/specs.js';

type Domain = VirtualMachineInstanceSpec['domain'];

const refuse =
  (domain: Partial<Domain>, more: Partial<VirtualMachineInstanceSpec> = {}) =>
  () =>
    refuseUnsupported(smallVmi('u', { domain: { devices: {}, ...domain }, ...more }));

test('what the examples use is supported', () => {
  for (const { spec } of examples) refuseUnsupported(smallVmi('u', spec));
});

test('a field that is not in the table is refused by its path', () => {
  const cases: [domain: Partial<Domain>, path: string][] = [
    [{ devices: { gpus: [{ name: 'g', deviceName: 'd' }] } }, 'spec.domain.devices.gpus[0].name'],
    [{ devices: { sound: { name: 's' } } }, 'spec.domain.devices.sound.name'],
    [{ devices: { tpm: {} } }, 'spec.domain.devices.tpm'],
    [{ ioThreadsPolicy: 'auto' }, 'spec.domain.ioThreadsPolicy'],
    [{ memory: { guest: '1Gi', hugepages: { pageSize: '2Mi' } } }, 'spec.domain.memory.hugepages.pageSize'],
    [{ cpu: { dedicatedCpuPlacement: true } }, 'spec.domain.cpu.dedicatedCpuPlacement'],
    [{ launchSecurity: {} }, 'spec.domain.launchSecurity'],
    [
      {
        devices: {
          interfaces: [
            { name: 'a', masquerade: {} },
            { name: 'b', sriov: {} },
          ],
        },
      },
      'spec.domain.devices.interfaces[1].sriov',
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
  const paths = supportedFields.map(({ path }) => path);
  assert.equal(new Set(paths).size, paths.length);
});
