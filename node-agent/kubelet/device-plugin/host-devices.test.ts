import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { hostDevices } from './host-devices.js';

/** A sysfs of files, by path; values that begin with `->` are links. */
function sysfs(t: TestContext, files: Readonly<Record<string, string>>): string {
  const sys = mkdtempSync(join(tmpdir(), 'nativirt-sysfs-'));
  t.after(() => rmSync(sys, { recursive: true, force: true }));
  for (const [name, value] of Object.entries(files)) {
    const path = join(sys, name);
    mkdirSync(dirname(path), { recursive: true });
    if (value.startsWith('->')) symlinkSync(value.slice(2), path);
    else writeFileSync(path, `${value}\n`);
  }
  return sys;
}

const gpu = (address: string, driver: string, group: string) => ({
  [`bus/pci/devices/${address}/vendor`]: '0x10de',
  [`bus/pci/devices/${address}/device`]: '0x1eb8',
  [`bus/pci/devices/${address}/driver`]: `->../../drivers/${driver}`,
  [`bus/pci/devices/${address}/iommu_group`]: `->../../kernel/iommu_groups/${group}`,
});

test('PCI functions that vfio-pci has, with the nodes of their groups', async (t) => {
  const sys = sysfs(t, {
    ...gpu('0000:65:00.0', 'vfio-pci', '42'),
    ...gpu('0000:66:00.0', 'vfio-pci', '43'),
    ...gpu('0000:67:00.0', 'nvidia', '44'),
  });
  const [source, ...others] = hostDevices(
    {
      pciHostDevices: [
        { resourceName: 'nvidia.com/T4', pciVendorSelector: '10DE:1EB8' },
        { resourceName: 'other', pciVendorSelector: '10DE:1EB8', externalResourceProvider: true },
      ],
    },
    sys,
  );
  assert.equal(others.length, 0);
  assert.ok(source);
  assert.deepEqual(await source.list(), [
    { ID: '0000:65:00.0', health: 'Healthy' },
    { ID: '0000:66:00.0', health: 'Healthy' },
  ]);
  const given = await source.allocate(['0000:65:00.0', '0000:66:00.0']);
  assert.deepEqual(given.envs, { PCI_RESOURCE_NVIDIA_COM_T4: '0000:65:00.0,0000:66:00.0' });
  assert.deepEqual(
    given.devices.map(({ host_path: path }) => path),
    ['/dev/vfio/vfio', '/dev/vfio/42', '/dev/vfio/43'],
  );
  await assert.rejects(async () => source.allocate(['0000:67:00.0']), /no device "0000:67:00.0"/);
});

test('mediated devices by the name of their type, USB devices by vendor and product', async (t) => {
  const uuid = '8f2ac3a1-0000-4000-8000-000000000001';
  const sys = sysfs(t, {
    [`bus/mdev/devices/${uuid}/mdev_type/name`]: 'GRID T4-1Q',
    [`bus/mdev/devices/${uuid}/iommu_group`]: '->../../iommu_groups/7',
    'bus/usb/devices/1-2/idVendor': '46f4',
    'bus/usb/devices/1-2/idProduct': '0002',
    'bus/usb/devices/1-2/busnum': '1',
    'bus/usb/devices/1-2/devnum': '12',
    'bus/usb/devices/usb1/bDeviceClass': '09',
  });
  const [mediated, usb] = hostDevices(
    {
      mediatedDevices: [{ resourceName: 'nvidia.com/GRID_T4-1Q', mdevNameSelector: 'GRID T4-1Q' }],
      usb: [{ resourceName: 'kubevirt.io/storage', selectors: [{ vendor: '0x46f4', product: '0x0002' }] }],
    },
    sys,
  );
  assert.deepEqual(await mediated?.allocate([uuid]), {
    envs: { MDEV_PCI_RESOURCE_NVIDIA_COM_GRID_T4_1Q: uuid },
    devices: ['/dev/vfio/vfio', '/dev/vfio/7'].map((path) => ({
      container_path: path,
      host_path: path,
      permissions: 'mrw',
    })),
  });
  const given = await usb?.allocate(['1:12']);
  assert.deepEqual(given?.envs, { USB_RESOURCE_KUBEVIRT_IO_STORAGE: '1:12' });
  assert.equal(given.devices[0]?.host_path, '/dev/bus/usb/001/012');
});

test('a node without these buses has none', async (t) => {
  const sys = sysfs(t, { present: '' });
  const [source] = hostDevices({ pciHostDevices: [{ resourceName: 'r', pciVendorSelector: '1:2' }] }, sys);
  assert.deepEqual(await source?.list(), []);
});
