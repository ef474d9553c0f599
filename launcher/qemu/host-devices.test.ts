import assert from 'node:assert/strict';
import test from 'node:test';
import { smallVmi } from '../../test/fake-qemu/launcher-process.js';
import { commandLine } from './command-line.js';
import { pciAddress } from './pci-address.js';
import type { VirtualMachineInstanceSpec } from '../../openapi/generated/types/kubevirt_v1.js';
import { defaultMachineSettings } from '../../openapi/launcher/settings.js';
import type { Tap } from './model.js';

type Devices = VirtualMachineInstanceSpec['domain']['devices'];

function machine(
  devices: Devices,
  environment: Record<string, string> = {},
  more: Partial<VirtualMachineInstanceSpec> = {},
) {
  return () =>
    commandLine({
      vmi: smallVmi('u', { domain: { memory: { guest: '64Mi' }, devices }, ...more }),
      settings: defaultMachineSettings,
      accelerator: 'tcg',
      images: new Map(),
      efi: undefined,
      kernel: undefined,
      taps: new Map<string, Tap>(),
      host: { cpus: [0], numaNodes: [], environment },
      now: 0,
    });
}

test('a device goes to one entry of the spec, and no further than there are devices', () => {
  const hostDevices = ['a', 'b'].map((name) => ({ name, deviceName: 'example.com/nic' }));
  const two = { PCI_RESOURCE_EXAMPLE_COM_NIC: '0000:01:00.0,0000:02:00.0' };
  const { argv } = machine({ hostDevices }, two)();
  assert.deepEqual(
    argv.filter((word) => word.includes('vfio-pci')).map((word) => /"host":"([^"]+)"/.exec(word)?.[1]),
    ['0000:01:00.0', '0000:02:00.0'],
  );
  assert.throws(machine({ hostDevices }, { PCI_RESOURCE_EXAMPLE_COM_NIC: '0000:01:00.0' }), {
    message: /hostDevices\[1\].*PCI_RESOURCE_EXAMPLE_COM_NIC/,
  });
});

test('what a plugin says is checked before QEMU gets it', () => {
  const hostDevices = [{ name: 'a', deviceName: 'example.com/nic' }];
  assert.throws(machine({ hostDevices }, { PCI_RESOURCE_EXAMPLE_COM_NIC: '0000:01:00.0"evil' }), {
    message: /is no pci address/,
  });
});

test('a network that the pod is not on is refused, whatever would stand in for it', () => {
  const networks = [{ name: 'n', multus: { networkName: 'storage' } }];
  assert.throws(machine({ interfaces: [{ name: 'n', bridge: {} }] }, {}, { networks }), {
    message: /not on the network storage/,
  });
  assert.throws(machine({ interfaces: [{ name: 'n', binding: { name: 'p' } }] }), {
    message: /plugin p has made no device/,
  });
  assert.throws(machine({ interfaces: [{ name: 'n', sriov: {} }] }), { message: /KUBEVIRT_RESOURCE_NAME_n/ });
  assert.throws(
    machine({ interfaces: [{ name: 'n', masquerade: {}, dhcpOptions: { ntpServers: ['192.0.2.1'] } }] }),
    { message: /ntpServers/ },
  );
});

test('a PCI address is one that the guest can have', () => {
  assert.deepEqual(pciAddress('p', '0000:81:1f.7'), { bus: 0x81, slot: 0x1f, fn: 7 });
  for (const text of ['0001:81:01.0', '81:01.0', '0000:81:20.0', '0000:81:01.8']) {
    assert.throws(() => pciAddress('p', text), { message: /not a PCI address/ });
  }
  for (const text of ['0000:00:01.0', '0000:00:1f.0', '0000:02:00.0']) {
    assert.throws(machine({ interfaces: [{ name: 'n', masquerade: {}, pciAddress: text }] }), {
      message: /is taken/,
    });
  }
});

test('a vsock has the context id that the instance was given', () => {
  assert.throws(machine({ autoattachVSOCK: true }), { message: /status\.VSOCKCID/ });
});
