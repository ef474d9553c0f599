import { readFileSync } from 'node:fs';
import type { VirtualMachineInstanceSpec } from '../../../openapi/generated/types/kubevirt_v1.js';

/** A machine with as much as one boot can show; its guest reports what it finds and lets its watchdog end it. */
export const hardwareSpec: VirtualMachineInstanceSpec = {
  domain: {
    cpu: { sockets: 2, cores: 2 },
    memory: { guest: '320Mi' },
    ioThreadsPolicy: 'auto',
    chassis: { manufacturer: 'Example, Inc.', asset: 'asset-7' },
    firmware: {
      uuid: '5d307ca9-b3ef-428c-8861-06e72d69f223',
      serial: 'serial-1',
      acpi: { slicNameRef: 'licence' },
    },
    devices: {
      blockMultiQueue: true,
      rng: {},
      tpm: {},
      downwardMetrics: {},
      clientPassthrough: {},
      sound: { name: 'speaker' },
      watchdog: { name: 'dog', i6300esb: { action: 'poweroff' } },
      panicDevices: [{ model: 'pvpanic' }],
      inputs: [{ name: 'tablet', type: 'tablet', bus: 'usb' }],
      filesystems: [{ name: 'shared', virtiofs: {} }],
      disks: [
        { name: 'root', disk: { bus: 'virtio' }, serial: 'ROOT1', bootOrder: 1 },
        {
          name: 'there',
          disk: { bus: 'virtio', pciAddress: '0000:81:01.0', readonly: true },
          serial: 'THERE',
          blockSize: { custom: { logical: 4096, physical: 4096 } },
          dedicatedIOThread: true,
        },
        { name: 'claim', disk: { bus: 'scsi' }, serial: 'SCSI1', errorPolicy: 'report', cache: 'writeback' },
        { name: 'attached', disk: { bus: 'sata' }, serial: 'SATA1' },
        { name: 'stick', disk: { bus: 'usb' } },
        { name: 'settings', cdrom: { bus: 'scsi' } },
        { name: 'empty', cdrom: { bus: 'sata' } },
        { name: 'seed', disk: { bus: 'virtio' } },
        { name: 'metrics', disk: { bus: 'virtio' }, serial: 'METRICS' },
      ],
      interfaces: [
        { name: 'default', masquerade: {} },
        { name: 'cut', slirp: {}, model: 'e1000e', state: 'down' },
      ],
    },
  },
  networks: [
    { name: 'default', pod: {} },
    { name: 'cut', pod: {} },
  ],
  volumes: [
    { name: 'root', containerDisk: { image: 'example/guest' } },
    { name: 'there', emptyDisk: { capacity: '1Mi' } },
    { name: 'claim', persistentVolumeClaim: { claimName: 'claim' } },
    { name: 'attached', emptyDisk: { capacity: '1Mi' } },
    { name: 'stick', emptyDisk: { capacity: '1Mi' } },
    { name: 'settings', configMap: { name: 'settings' } },
    { name: 'shared', configMap: { name: 'shared' } },
    { name: 'licence', secret: { secretName: 'licence' } },
    { name: 'metrics', downwardMetrics: {} },
    {
      name: 'seed',
      cloudInitNoCloud: { userData: readFileSync(new URL('report.sh', import.meta.url), 'utf8') },
    },
  ],
};
