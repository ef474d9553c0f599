import type { Example } from './specs.js';

const cpus = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);

/** Machines that get something of their node: its CPUs, its pages, its devices, its networks, its encryption. */
export const nodeExamples: readonly Example[] = [
  {
    name: 'pinned',
    accelerator: 'kvm',
    needs: 'huge pages',
    host: {
      cpus: [2, 3, 4, 5, 6, 7, 8],
      numaNodes: [
        { id: 0, cpus: cpus(0, 4) },
        { id: 1, cpus: cpus(4, 8) },
      ],
    },
    status: { topologyHints: { tscFrequency: 2_400_000_000 } },
    spec: {
      domain: {
        cpu: {
          cores: 4,
          dedicatedCpuPlacement: true,
          isolateEmulatorThread: true,
          numa: { guestMappingPassthrough: {} },
          realtime: { mask: '1-3,^2' },
          features: [{ name: 'invtsc', policy: 'require' }],
        },
        memory: { guest: '1026Mi', hugepages: { pageSize: '2Mi' } },
        ioThreadsPolicy: 'supplementalPool',
        ioThreads: { supplementalPoolThreadCount: 2 },
        features: { apic: { endOfInterrupt: true }, hyperv: { reenlightenment: {} } },
        devices: {
          panicDevices: [{ model: 'hyperv' }],
          disks: ['a', 'b', 'c'].map((name) => ({ name, disk: { bus: 'virtio' } })),
        },
      },
      volumes: ['a', 'b', 'c'].map((name) => ({ name, emptyDisk: { capacity: '1Mi' } })),
    },
  },
  {
    name: 'node-devices',
    accelerator: 'tcg',
    needs: "the node's devices",
    block: ['lun'],
    status: { VSOCKCID: 42 },
    host: {
      environment: {
        PCI_RESOURCE_EXAMPLE_COM_NIC: '0000:3b:00.0,0000:3b:00.1',
        MDEV_PCI_RESOURCE_EXAMPLE_COM_VGPU: '9f2d0d7c-4a6e-4a55-9c62-9be15e6c7d11',
        PCI_RESOURCE_EXAMPLE_COM_GPU: '0000:af:00.0',
        USB_RESOURCE_EXAMPLE_COM_KEY: '1:12',
        KUBEVIRT_RESOURCE_NAME_fast: 'example.com/vf',
        PCIDEVICE_EXAMPLE_COM_VF: '0000:5e:02.3',
      },
    },
    taps: {
      default: { device: 'tap0', vhost: true, queues: 2, mac: '0a:58:0a:f4:00:05', mtu: 1450 },
      second: { device: 'tap1', vhost: false },
      plugged: { device: 'tap2', vhost: false },
    },
    streams: { passed: 'qemu/passt-passed.sock', former: 'qemu/passt-former.sock' },
    spec: {
      domain: {
        cpu: { cores: 2 },
        memory: { guest: '256Mi', hugepages: {} },
        devices: {
          autoattachVSOCK: true,
          networkInterfaceMultiqueue: true,
          filesystems: [{ name: 'shared', virtiofs: {} }],
          tpm: { persistent: true },
          hostDevices: [
            { name: 'first', deviceName: 'example.com/nic' },
            { name: 'second', deviceName: 'example.com/nic' },
            { name: 'key', deviceName: 'example.com/key' },
          ],
          gpus: [
            {
              name: 'virtual',
              deviceName: 'example.com/vgpu',
              virtualGPUOptions: { display: { enabled: true, ramFB: { enabled: true } } },
            },
            { name: 'whole', deviceName: 'example.com/gpu' },
          ],
          disks: [{ name: 'lun', lun: { reservation: true, readonly: false }, shareable: true }],
          interfaces: [
            { name: 'default', bridge: {}, ports: [{ port: 22 }] },
            { name: 'second', bridge: {}, model: 'e1000e', dhcpOptions: { ntpServers: ['192.0.2.1'] } },
            { name: 'plugged', binding: { name: 'plugin' } },
            { name: 'fast', sriov: {} },
            { name: 'passed', passtBinding: {} },
            { name: 'former', passt: {}, model: 'e1000' },
          ],
        },
      },
      networks: [
        { name: 'default', pod: {} },
        { name: 'second', multus: { networkName: 'second' } },
        { name: 'plugged', multus: { networkName: 'plugged' } },
        { name: 'fast', multus: { networkName: 'fast' } },
        { name: 'passed', multus: { networkName: 'passed' } },
        { name: 'former', multus: { networkName: 'former' } },
      ],
      volumes: [
        { name: 'lun', persistentVolumeClaim: { claimName: 'lun' } },
        { name: 'shared', configMap: { name: 'shared' } },
      ],
    },
  },
  {
    name: 'encrypted',
    accelerator: 'kvm',
    needs: 'a processor with SEV',
    spec: {
      startStrategy: 'Paused',
      domain: {
        memory: { guest: '1Gi' },
        firmware: { bootloader: { efi: { secureBoot: false, persistent: true } } },
        launchSecurity: {
          sev: {
            policy: { encryptedState: true },
            session: 'c2Vzc2lvbg==',
            dhCert: 'Y2VydA==',
            attestation: {},
          },
        },
        devices: { disks: [{ name: 'root', disk: { bus: 'virtio' } }], rng: {} },
      },
      volumes: [{ name: 'root', emptyDisk: { capacity: '1Mi' } }],
    },
  },
  {
    name: 'encrypted-snp',
    accelerator: 'kvm',
    needs: 'a processor with SEV-SNP',
    spec: {
      domain: {
        memory: { guest: '1Gi' },
        firmware: { bootloader: { efi: { secureBoot: false } } },
        launchSecurity: { snp: {} },
        devices: {},
      },
    },
  },
  {
    name: 'encrypted-tdx',
    accelerator: 'kvm',
    needs: 'a processor with TDX',
    spec: {
      domain: {
        memory: { guest: '1Gi' },
        firmware: { bootloader: { efi: { secureBoot: false } } },
        launchSecurity: { tdx: {} },
        devices: {},
      },
    },
  },
];
