import { architectureOf } from './architecture.js';
import type { Row } from './rows.js';

/** A way in which our machine is not what the record has, on purpose. */
export interface MeantDifference {
  readonly why: string;
  /** Rows that can differ so; all of them where it is left out. */
  readonly where?: (row: Row) => boolean;
  /** Matches `fact: domain → ours`; what a side does not have is `-`. */
  readonly differs: RegExp;
}

const numbered =
  (...rows: readonly number[]) =>
  ({ number }: Row) =>
    rows.includes(number);
const interfaces = ({ spec }: Row) => spec.domain.devices.interfaces?.length ?? 0;

export const meantDifferences: readonly MeantDifference[] = [
  // What is decided before a VMI comes to its node, and was not in the record's tests.
  {
    why: 'admission gives every VMI a firmware UUID',
    where: ({ spec }) => spec.domain.firmware?.uuid === undefined,
    differs: /^smbios\.system\.uuid: - → [0-9a-f-]{36}$/,
  },
  {
    why: 'admission wants a size of memory; the test gives these rows the smallest',
    differs: /^memory\.size: 0 → 8388608$/,
  },
  {
    why: 'admission turns ACPI on where nothing is said',
    where: ({ spec }) => spec.domain.features?.acpi === undefined,
    differs: /^feature\.acpi: off → on$/,
  },
  {
    why: 'admission gives the retries, which QEMU and libvirt both need',
    where: ({ spec }) => spec.domain.features?.hyperv?.spinlocks?.spinlocks === undefined,
    differs: /^feature\.hyperv\.spinlocks: on → 4096$/,
  },
  {
    why: 'admission puts a VMI that names no interface on the pod network',
    where: (row) => interfaces(row) === 0,
    differs: /^device\.interface\.default\./,
  },
  {
    why: 'admission puts disks without a bus on sata',
    differs: /^device\.disk\.[^.]+\.bus: - → sata$/,
  },
  {
    why: 'admission makes a disk of what is none of disk, cdrom, lun, and of a volume that no disk names',
    where: ({ domain, spec }) =>
      domain.includes('<disk device="" ') ||
      (spec.volumes ?? []).some(({ name }) => !spec.domain.devices.disks?.some((disk) => disk.name === name)),
    differs: /^device\.disk\.[^.]+\.(device|discard|serial|errorPolicy|readOnly): - → /,
  },

  // What a cluster's configuration or its node decides.
  {
    why: "the cluster's names for its machines; the record's had none",
    differs: /^smbios\.system\.(manufacturer|product|family): - → \w+$/,
  },
  {
    why: "a setting of the cluster that the record's tests left out; 10 s is its default",
    differs: /^device\.balloon\.statsPeriod: - → 10$/,
  },
  {
    why: "a setting of the cluster that the record's tests left out; its default is on",
    differs: /^device\.balloon\.freePageReporting: off → on$/,
  },
  {
    why: 'huge pages are not given back piece by piece',
    where: numbered(66, 67, 68),
    differs: /^device\.balloon\.freePageReporting: on → off$/,
  },
  {
    why: 'the node is asked whether it can bypass its page cache; the record stops before that',
    differs: /^device\.disk\.[^.]+\.cache: - → none$/,
  },
  {
    why: 'where nothing has a boot order libvirt boots from the first disk, without saying so in the domain',
    differs: /^device\.disk\.[^.]+\.bootOrder: - → 1$/,
  },
  {
    why: "a feature gate of the cluster shows the guest its devices' NUMA nodes; it is off by default",
    where: numbered(77),
    differs: /^device\.controller\.pci\.pcie-(expander-bus|root-port): \d → -$/,
  },
  {
    why: "a setting of the record's test; EFI guests have a VGA display by default",
    where: numbered(153),
    differs: /^device\.video\.(type: bochs → vga|kilobytes: - → 16384)$/,
  },
  {
    why: "the record's test had firmware without secure boot only; the field's default is true",
    where: numbered(152, 153, 155, 157),
    differs: /^os\.secureBoot: off → on$/,
  },

  // Where the record's libvirt and our QEMU come to the same by different ways, or ours is better.
  {
    why: 'secure boot needs system management mode, which admission or libvirt would set',
    where: ({ domain }) => domain.includes('<loader') || domain.includes('<firmware>'),
    differs: /^feature\.smm: - → on$/,
  },
  {
    why: 'the spec says no, which libvirt leaves to QEMU, whose default is yes',
    where: ({ spec }) => spec.domain.features?.smm?.enabled === false,
    differs: /^feature\.smm: - → off$/,
  },
  {
    why: 'a thread that would serve nothing: only virtio disks, and a SCSI controller, can have one',
    where: numbered(39, 40, 41, 45, 58),
    differs: /^ioThreads: 3 → 2$/,
  },
  {
    why: 'QEMU before 9.0 serves a disk by one thread; those of the pool go to the disks in turn',
    where: numbered(121),
    differs: /^device\.disk\.disk0\.ioThread: 1,2,3,4 → 1$/,
  },
  {
    why: 'every I/O thread leaves the CPUs of the guest, not the first alone',
    where: numbered(128),
    differs: /^pin\.iothread\.2: - → 1$/,
  },
  {
    why: 'libvirt adds the controller of the agent channel by itself',
    where: numbered(111),
    differs: /^device\.controller\.virtio-serial\.(model: - → virtio-non-transitional|iommu: - → off)$/,
  },
  {
    why: 'QEMU sets it for every virtio device of a confidential guest; we say so',
    where: numbered(185),
    differs: /\.iommu: off → on$/,
  },
  {
    why: 'libvirt leaves QEMU its default without features; admission always gives some',
    where: ({ spec }) => spec.domain.features === undefined,
    differs: /^feature\.vmport: unsaid → off$/,
  },

  {
    why: 'an interface whose network is not there yet in the record; where it is, its boot ROM is off too',
    where: ({ domain }) => domain.includes('<interface type="">'),
    differs: /^device\.interface\.[^.]+\.bootRom: on → off$/,
  },

  // Rows that describe no machine.
  {
    why: "the record's plugin adds the interface itself, after the domain is made",
    where: numbered(87),
    differs: /^device\.interface\.Name\./,
  },
  {
    why: "the record's test appends a device of a type that does not exist",
    where: numbered(88),
    differs: /^device\.hostdev\.sriov-test none: 1 → -$/,
  },
  {
    why: "the record's test makes the disks transitional and nothing else",
    where: numbered(70),
    differs: /^device\.disk\.[^.]+\.model: virtio-transitional → virtio-non-transitional$/,
  },

  // Other architectures: the launcher makes x86 machines.
  {
    why: 'arm64 and s390x machines have a virtio display, a keyboard, a USB controller for it, and no VMware port',
    where: (row) => architectureOf(row) !== 'amd64',
    differs:
      /^(device\.video\.(type: virtio → vga|kilobytes: - → 16384)|device\.input\.(keyboard|tablet) on (usb|virtio): 1 → -|device\.controller\.usb: qemu-xhci → -|feature\.vmport: unsaid → off)$/,
  },
  {
    why: 'arm64 and s390x know neither MPX nor a 64-bit PCI hole',
    where: (row) => architectureOf(row) !== 'amd64',
    differs: /^(cpu\.feature\.mpx: - → off|device\.controller\.pci\.hole64: - → 0)$/,
  },
  {
    why: 'virtio devices of s390x have no PCI generations, no boot ROM, and no USB controller beside them',
    where: (row) => architectureOf(row) === 's390x',
    differs:
      /(\.model: virtio → virtio-non-transitional|\.bootRom: on → off|^device\.controller\.usb: - → qemu-xhci)$/,
  },
  {
    why: 'secure execution, which only s390x has, needs it',
    where: numbered(180, 181, 182, 183, 184),
    differs: /\.iommu: on → off$/,
  },
  {
    why: 's390x has no NUMA cells',
    where: numbered(68),
    differs: /^numa\.0\.(cpus: - → 0|memory: - → 8388608)$/,
  },
];

/** Rows whose machine cannot be made, with the words of the refusal. */
export const meantRefusals: readonly {
  readonly why: string;
  readonly rows: readonly number[];
  readonly message: RegExp;
}[] = [
  {
    why: 'QEMU has no virtio CD-ROM; admission refuses it',
    rows: [10, 11],
    message: /only a disk can be on bus virtio/,
  },
  { why: 'an arm64 machine', rows: [22], message: /virt is not one of q35/ },
  {
    why: 'no display is of this type; admission refuses it',
    rows: [98, 99, 100],
    message: /test-video is not one of/,
  },
  {
    why: 'without a kernel there is nothing that would take arguments; QEMU refuses them, admission too',
    rows: [165, 166],
    message: /there is no kernel to take them/,
  },
];
