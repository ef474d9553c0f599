import type {
  VirtualMachineInstanceSpec,
  VirtualMachineInstanceStatus,
} from '../../../openapi/generated/types/kubevirt_v1.js';
import type { MachineSettings } from '../../../openapi/launcher/settings.js';
import type { Host } from '../host.js';
import type { Accelerator, Tap } from '../model.js';
import { nodeExamples } from './node-specs.js';

export interface Example {
  readonly name: string;
  readonly accelerator: Accelerator;
  /** Volumes that are block devices. */
  readonly block?: readonly string[];
  readonly spec: VirtualMachineInstanceSpec;
  readonly status?: VirtualMachineInstanceStatus;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly settings?: Partial<MachineSettings>;
  readonly host?: Partial<Host>;
  readonly taps?: Readonly<Record<string, Tap>>;
  readonly streams?: Readonly<Record<string, string>>;
  /** What a QEMU for it would need and a test does not have. */
  readonly needs?: string;
}

const image = { image: 'example/disk' };
const pod = [{ name: 'default', pod: {} }];

/** Machines of the kinds that users make, each with its command line in a file of its name. */
export const examples: readonly Example[] = [
  {
    name: 'smallest',
    accelerator: 'tcg',
    spec: { domain: { devices: {}, resources: { requests: { memory: '64M', cpu: '1500m' } } } },
  },
  {
    name: 'cloud-image',
    accelerator: 'kvm',
    spec: {
      domain: {
        memory: { guest: '1024M' },
        devices: {
          disks: [
            { name: 'containerdisk', disk: { bus: 'virtio' } },
            { name: 'cloudinitdisk', disk: { bus: 'virtio' } },
          ],
          interfaces: [{ name: 'default', masquerade: {}, macAddress: '02:00:00:00:00:01' }],
          rng: {},
        },
        firmware: { uuid: '5d307ca9-b3ef-428c-8861-06e72d69f223', serial: 'a,b' },
      },
      networks: pod,
      volumes: [
        { name: 'containerdisk', containerDisk: image },
        { name: 'cloudinitdisk', cloudInitNoCloud: { userData: '#cloud-config' } },
      ],
      terminationGracePeriodSeconds: 0,
    },
  },
  {
    name: 'kernel-boot',
    accelerator: 'tcg',
    spec: {
      domain: {
        memory: { guest: '1Gi' },
        devices: { autoattachGraphicsDevice: false, autoattachPodInterface: false },
        firmware: {
          kernelBoot: {
            container: {
              image: 'example/kernel',
              imagePullPolicy: 'IfNotPresent',
              imagePullSecret: 'pull',
              kernelPath: '/boot/vmlinuz',
              initrdPath: '/boot/initrd',
            },
            kernelArgs: 'console=ttyS0 root=/dev/vda,ro',
          },
        },
      },
    },
  },
  {
    name: 'volume-without-disk',
    accelerator: 'tcg',
    spec: {
      domain: { memory: { guest: '128Mi' }, devices: {} },
      volumes: [{ name: 'containerdisk', containerDisk: image }],
    },
  },
  {
    name: 'windows',
    accelerator: 'kvm',
    spec: {
      domain: {
        clock: {
          utc: { offsetSeconds: 3600 },
          timer: {
            hpet: { present: false },
            pit: { tickPolicy: 'delay' },
            rtc: { tickPolicy: 'catchup' },
            hyperv: {},
          },
        },
        cpu: { cores: 2 },
        memory: { guest: '2Gi' },
        features: {
          acpi: {},
          apic: {},
          hyperv: {
            relaxed: {},
            vapic: {},
            spinlocks: { spinlocks: 8191 },
            synictimer: { direct: {} },
            ipi: { enabled: false },
          },
          smm: {},
        },
        firmware: { bootloader: { efi: { secureBoot: true } } },
        devices: {
          disks: [{ name: 'pvcdisk', disk: { bus: 'sata' } }],
          interfaces: [{ name: 'default', masquerade: {}, model: 'e1000' }],
          inputs: [{ name: 'tablet', type: 'tablet', bus: 'usb' }],
        },
      },
      networks: pod,
      volumes: [{ name: 'pvcdisk', persistentVolumeClaim: { claimName: 'disk-windows' } }],
    },
  },
  {
    name: 'disks',
    accelerator: 'tcg',
    spec: {
      domain: {
        memory: { guest: '256Mi' },
        devices: {
          disks: [
            {
              name: 'root',
              disk: { bus: 'virtio' },
              bootOrder: 2,
              serial: 'ROOT1',
              cache: 'none',
              io: 'native',
            },
            {
              name: 'a-volume-with-a-name-that-is-too-long-for-a-block-node',
              disk: { bus: 'virtio' },
              dedicatedIOThread: true,
              cache: 'writeback',
              blockSize: { custom: { logical: 512, physical: 4096 } },
            },
            { name: 'installer', cdrom: { bus: 'sata' }, bootOrder: 1 },
            { name: 'drivers', cdrom: { bus: 'scsi' } },
            { name: 'data', disk: { bus: 'scsi', readonly: true }, errorPolicy: 'report' },
            { name: 'shared', disk: { bus: 'scsi' }, shareable: true, errorPolicy: 'enospace' },
            { name: 'stick', disk: { bus: 'usb' }, io: 'threads', cache: 'writethrough' },
            ...['s1', 's2', 's3', 's4', 's5', 's6'].map((name) => ({ name, disk: { bus: 'sata' } })),
          ],
        },
      },
      volumes: [
        { name: 'root', containerDisk: image },
        { name: 'a-volume-with-a-name-that-is-too-long-for-a-block-node', emptyDisk: { capacity: '1Gi' } },
        { name: 'installer', containerDisk: image },
        { name: 'drivers', configMap: { name: 'drivers' } },
        ...['data', 'shared', 'stick', 's1', 's2', 's3', 's4', 's5', 's6'].map((name) => ({
          name,
          emptyDisk: { capacity: '1Mi' },
        })),
      ],
    },
  },
  {
    name: 'lun',
    accelerator: 'tcg',
    block: ['lun', 'disk'],
    spec: {
      domain: {
        memory: { guest: '256Mi' },
        devices: {
          disks: [
            { name: 'lun', lun: {} },
            { name: 'disk', disk: { bus: 'virtio' } },
          ],
        },
      },
      volumes: [
        { name: 'lun', persistentVolumeClaim: { claimName: 'lun' } },
        { name: 'disk', persistentVolumeClaim: { claimName: 'disk' } },
      ],
    },
  },
  {
    name: 'transitional-devices',
    accelerator: 'tcg',
    spec: {
      domain: {
        memory: { guest: '256Mi' },
        machine: { type: 'pc-q35-6.2' },
        rebootPolicy: 'Terminate',
        chassis: { manufacturer: 'Example, Inc.', serial: 'C1' },
        features: { acpi: { enabled: true } },
        clock: { timezone: 'Europe/Berlin' },
        devices: {
          useVirtioTransitional: true,
          autoattachSerialConsole: false,
          autoattachMemBalloon: false,
          disableHotplug: true,
          disks: [{ name: 'root', disk: { bus: 'virtio' } }],
          interfaces: [
            { name: 'default', bridge: {}, acpiIndex: 7 },
            { name: 'absent', bridge: {}, state: 'absent' },
          ],
          inputs: [{ name: 'keys', type: 'keyboard', bus: 'virtio' }],
          watchdog: { name: 'dog', i6300esb: { action: 'poweroff' } },
          panicDevices: [{ model: 'isa' }],
          video: { type: 'virtio' },
          rng: {},
        },
      },
      networks: [{ name: 'default', pod: { vmNetworkCIDR: '10.11.12.0/24' } }],
      volumes: [{ name: 'root', containerDisk: image }],
    },
  },
  {
    name: 'cpu-and-memory',
    accelerator: 'tcg',
    spec: {
      domain: {
        cpu: {
          sockets: 2,
          cores: 2,
          threads: 1,
          maxSockets: 4,
          model: 'Nehalem',
          features: [{ name: 'aes', policy: 'require' }, { name: 'vmx', policy: 'disable' }, { name: 'avx' }],
        },
        memory: { guest: '512Mi', maxGuest: '2Gi' },
        firmware: { bootloader: { efi: { secureBoot: false } } },
        devices: {},
      },
    },
  },
  {
    name: 'devices',
    accelerator: 'tcg',
    annotations: { 'kubevirt.io/disablePCIHole64': 'true' },
    spec: {
      startStrategy: 'Paused',
      domain: {
        cpu: { cores: 2 },
        memory: { guest: '256Mi' },
        ioThreadsPolicy: 'auto',
        chassis: { sku: 'sku-1', version: '2' },
        firmware: {
          acpi: { slicNameRef: 'licence', msdmNameRef: 'licence' },
          bootloader: { bios: { useSerial: true } },
        },
        devices: {
          autoattachInputDevice: true,
          blockMultiQueue: true,
          clientPassthrough: {},
          sound: { name: 'speaker' },
          downwardMetrics: {},
          video: { type: 'bochs' },
          panicDevices: [{ model: 'pvpanic' }],
          disks: [
            { name: 'there', disk: { bus: 'virtio', pciAddress: '0000:81:01.0' } },
            {
              name: 'quick',
              disk: { bus: 'virtio' },
              dedicatedIOThread: true,
              blockSize: { custom: { logical: 512, physical: 512, discardGranularity: 4096 } },
            },
            { name: 'empty', cdrom: { bus: 'sata' } },
            { name: 'open', cdrom: { bus: 'scsi', tray: 'open' } },
          ],
          interfaces: [
            {
              name: 'default',
              masquerade: {},
              pciAddress: '0000:00:1d.0',
              bootOrder: 1,
              ports: [{ name: 'ssh', port: 22, protocol: 'TCP' }],
              portRanges: [{ start: 8000, end: 8100, protocol: 'TCP' }],
            },
            {
              name: 'cut',
              slirp: {},
              state: 'down',
              dhcpOptions: { bootFileName: 'boot', tftpServerName: 'tftp' },
            },
          ],
        },
      },
      networks: [...pod, { name: 'cut', pod: { vmIPv6NetworkCIDR: 'fd10:0:2::/120' } }],
      volumes: [
        ...['there', 'quick', 'open'].map((name) => ({ name, emptyDisk: { capacity: '1Mi' } })),
        { name: 'licence', secret: { secretName: 'licence' } },
        { name: 'metrics', downwardMetrics: {} },
      ],
    },
  },
  {
    name: 'balloon-configured',
    accelerator: 'tcg',
    settings: { balloonStatsPeriod: 3, freePageReporting: false },
    spec: { domain: { devices: {}, memory: { guest: '64Mi' } } },
  },
  {
    name: 'balloon-without-statistics',
    accelerator: 'tcg',
    settings: { balloonStatsPeriod: 0 },
    annotations: { 'kubevirt.io/free-page-reporting-disabled': 'true' },
    spec: { domain: { devices: {}, memory: { guest: '64Mi' } } },
  },
  ...nodeExamples,
];
