import type { VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { failure } from '../errors.js';

/**
 * A field of `spec` and how the launcher honours it. `[]` stands for any element, `.**` at the end for everything below.
 * `refuse` says why a value cannot be honoured, or nothing.
 */
interface FieldRule {
  readonly path: string;
  readonly effect: string;
  readonly refuse?: (value: unknown) => string | undefined;
}

const field = (path: string, effect: string, refuse?: FieldRule['refuse']): FieldRule =>
  refuse ? { path, effect, refuse } : { path, effect };

const notYet = 'this version of the launcher does not implement it';
const onlyOff = (value: unknown) => (value === false ? undefined : notYet);
const onlyDisabled = (value: unknown) =>
  typeof value === 'object' && value !== null && 'enabled' in value && value.enabled === false
    ? undefined
    : notYet;

/** What scheduler, controllers, kubelet and node agent read; the launcher has no part in it. */
const elsewhere = [
  'affinity',
  'architecture',
  'dnsConfig',
  'dnsPolicy',
  'evictionStrategy',
  'livenessProbe',
  'nodeSelector',
  'priorityClassName',
  'readinessProbe',
  'schedulerName',
  'serviceAccountName',
  'subdomain',
  'tolerations',
  'topologySpreadConstraints',
].map((name) => field(`${name}.**`, 'not a matter of the launcher'));

const cpuAndMemory = [
  field('domain.cpu.cores', '-smp cores'),
  field('domain.cpu.sockets', '-smp sockets'),
  field('domain.cpu.threads', '-smp threads'),
  field('domain.cpu.maxSockets', '-smp maxcpus'),
  field('domain.cpu.model', '-cpu'),
  field('domain.cpu.features[].name', '-cpu properties'),
  field('domain.cpu.features[].policy', '-cpu properties'),
  field('domain.cpu.dedicatedCpuPlacement', '', onlyOff),
  field('domain.cpu.isolateEmulatorThread', '', onlyOff),
  field('domain.memory.guest', '-object memory-backend-ram'),
  field('domain.memory.maxGuest', '-m maxmem'),
  field('domain.memory.reservedOverhead.**', 'resources of the launcher pod'),
  field('domain.resources.**', '-m and -smp where memory and cpu give no size'),
];

const platform = [
  field('domain.machine.type', '-machine type'),
  field('domain.rebootPolicy', '-action reboot'),
  field('domain.chassis.**', '-smbios type=3'),
  field('domain.firmware.uuid', '-uuid, -smbios type=1'),
  field('domain.firmware.serial', '-smbios type=1'),
  field('domain.firmware.bootloader.bios', 'SeaBIOS'),
  field('domain.firmware.bootloader.bios.useSerial', '-machine graphics=off'),
  field('domain.firmware.bootloader.efi', '-machine pflash0, pflash1'),
  field('domain.firmware.bootloader.efi.secureBoot', '-global cfi.pflash01'),
  field('domain.firmware.bootloader.efi.persistent', '', onlyOff),
  field('domain.firmware.kernelBoot.kernelArgs', '-append'),
  field('domain.firmware.kernelBoot.container.**', '-kernel, -initrd'),
  field('domain.features.acpi.enabled', '-machine acpi'),
  field('domain.features.apic.enabled', 'always there', (value) =>
    value === false ? 'q35 machines always have an APIC' : undefined,
  ),
  field('domain.features.smm.enabled', '-machine smm'),
  field('domain.features.hyperv.**', '-cpu hv-*'),
  field('domain.features.hypervPassthrough.enabled', '-cpu hv-passthrough'),
  field('domain.features.kvm.hidden', '-cpu kvm'),
  field('domain.features.pvspinlock.enabled', '-cpu kvm-pv-unhalt'),
  field('domain.clock.timezone', '-rtc base=localtime'),
  field('domain.clock.utc.**', '-rtc base'),
  field('domain.clock.timer.hpet.present', '-machine hpet'),
  field('domain.clock.timer.hpet.tickPolicy', 'QEMU has one policy for it', (value) =>
    value === 'delay' ? undefined : `the HPET of QEMU has only the tick policy delay`,
  ),
  field('domain.clock.timer.pit.present', '-machine pit'),
  field('domain.clock.timer.pit.tickPolicy', '-global kvm-pit.lost_tick_policy', (value) =>
    value === 'delay' || value === 'discard'
      ? undefined
      : `the PIT has only the tick policies delay and discard`,
  ),
  field('domain.clock.timer.rtc.present', 'always there', (value) =>
    value === false ? 'q35 machines always have a real-time clock' : undefined,
  ),
  field('domain.clock.timer.rtc.tickPolicy', '-rtc driftfix'),
  field('domain.clock.timer.rtc.track', '-rtc clock'),
  field('domain.clock.timer.kvm.present', '-cpu kvmclock'),
  field('domain.clock.timer.hyperv.present', '-cpu hv-time'),
];

const devices = [
  ...['GraphicsDevice', 'InputDevice', 'MemBalloon', 'PodInterface', 'SerialConsole'].map((name) =>
    field(`domain.devices.autoattach${name}`, '-device'),
  ),
  field('domain.devices.autoattachVSOCK', '', onlyOff),
  field('domain.devices.blockMultiQueue', '', onlyOff),
  field('domain.devices.networkInterfaceMultiqueue', '', onlyOff),
  field('domain.devices.disableHotplug', 'whether there is a SCSI controller'),
  field('domain.devices.useVirtioTransitional', '-device virtio-*-transitional'),
  field('domain.devices.logSerialConsole', 'the guest console log'),
  field('domain.devices.rng', '-device virtio-rng'),
  field('domain.devices.video.type', '-device'),
  field('domain.devices.inputs[].**', '-device'),
  field('domain.devices.panicDevices[].model', '-device pvpanic'),
  field('domain.devices.watchdog.name', '-device id'),
  field('domain.devices.watchdog.i6300esb', '-device i6300esb'),
  field('domain.devices.watchdog.i6300esb.action', '-action watchdog'),
  field('domain.devices.tpm', '', onlyDisabled),
];

const disks = [
  field('domain.devices.disks[].name', '-blockdev'),
  field('domain.devices.disks[].disk', '-device'),
  field('domain.devices.disks[].disk.bus', '-device'),
  field('domain.devices.disks[].disk.readonly', '-blockdev read-only'),
  field('domain.devices.disks[].cdrom', '-device'),
  field('domain.devices.disks[].cdrom.bus', '-device'),
  field('domain.devices.disks[].cdrom.readonly', '-blockdev read-only', (value) =>
    value === false ? 'a CD-ROM cannot be written' : undefined,
  ),
  field('domain.devices.disks[].cdrom.tray', 'closed at the start', (value) =>
    value === 'closed' ? undefined : notYet,
  ),
  field('domain.devices.disks[].lun', '-device scsi-block'),
  field('domain.devices.disks[].lun.bus', '-device'),
  field('domain.devices.disks[].lun.readonly', '-blockdev read-only'),
  field('domain.devices.disks[].lun.reservation', '', onlyOff),
  field('domain.devices.disks[].bootOrder', '-device bootindex'),
  field('domain.devices.disks[].serial', '-device serial'),
  field('domain.devices.disks[].cache', '-blockdev cache'),
  field('domain.devices.disks[].io', '-blockdev aio'),
  field('domain.devices.disks[].errorPolicy', '-device werror'),
  field('domain.devices.disks[].shareable', '-device share-rw'),
  field('domain.devices.disks[].dedicatedIOThread', '-object iothread'),
  field('domain.devices.disks[].blockSize.custom.**', '-device logical_block_size, physical_block_size'),
  field('domain.devices.disks[].changedBlockTracking', '', onlyOff),
];

const interfaces = [
  field('domain.devices.interfaces[].name', '-netdev'),
  field('domain.devices.interfaces[].masquerade', '-netdev user'),
  field('domain.devices.interfaces[].bridge', '-netdev user'),
  field('domain.devices.interfaces[].model', '-device'),
  field('domain.devices.interfaces[].macAddress', '-device mac'),
  field('domain.devices.interfaces[].bootOrder', '-device bootindex'),
  field('domain.devices.interfaces[].acpiIndex', '-device acpi-index'),
  field(
    'domain.devices.interfaces[].ports[].**',
    'which ports may be reached: user-mode networking lets none in',
  ),
  field('domain.devices.interfaces[].state', 'absent: left out', (value) =>
    value === 'down' ? notYet : undefined,
  ),
  field('networks[].name', '-netdev'),
  field('networks[].pod', '-netdev user'),
  field('networks[].pod.vmNetworkCIDR', '-netdev user,net'),
  field('networks[].pod.vmIPv6NetworkCIDR', '-netdev user,ipv6-net'),
];

const volumes = [
  field('volumes[].name', '-blockdev'),
  ...[
    'cloudInitConfigDrive',
    'cloudInitNoCloud',
    'configMap',
    'containerDisk',
    'downwardAPI',
    'emptyDisk',
    'ephemeral',
    'secret',
    'serviceAccount',
    'sysprep',
  ].map((kind) => field(`volumes[].${kind}.**`, '-blockdev')),
  field('volumes[].persistentVolumeClaim.**', '-blockdev'),
  field('volumes[].dataVolume.**', '-blockdev'),
  field('volumes[].hostDisk.**', '-blockdev'),
];

/** Every field of a VMI's spec that is honoured. Whatever is not here is refused. */
export const supportedFields: readonly FieldRule[] = [
  ...elsewhere,
  ...cpuAndMemory,
  ...platform,
  ...devices,
  ...disks,
  ...interfaces,
  ...volumes,
  field('hostname', 'cloud-init local-hostname'),
  field('startStrategy', 'paused after the start', (value) =>
    value === 'Paused' ? undefined : `only Paused is known`,
  ),
  field('terminationGracePeriodSeconds', 'time between power button and kill'),
];

interface Match {
  readonly rules: ReadonlyMap<string, FieldRule>;
  /** Paths above some rule: an empty object there asks for nothing. */
  readonly prefixes: ReadonlySet<string>;
}

let compiled: Match | undefined;

function compile(): Match {
  const rules = new Map<string, FieldRule>();
  const prefixes = new Set<string>();
  for (const rule of supportedFields) {
    rules.set(rule.path, rule);
    const words = rule.path.replaceAll('[]', '.[]').split('.');
    for (let length = 1; length < words.length; length++) {
      prefixes.add(words.slice(0, length).join('.').replaceAll('.[]', '[]'));
    }
  }
  return { rules, prefixes };
}

/**
 * Refuses a VMI with a field that the launcher would ignore.
 * @throws LauncherError `UnsupportedField`, for the first such field.
 */
export function refuseUnsupported({ spec }: VirtualMachineInstance): void {
  compiled ??= compile();
  for (const [name, value] of Object.entries(spec)) check(compiled, value, name, `spec.${name}`);
}

function check(match: Match, value: unknown, pattern: string, path: string): void {
  if (value === undefined || value === null) return;
  const rule = match.rules.get(pattern);
  if (rule?.refuse) {
    const why = rule.refuse(value);
    if (why !== undefined) throw failure('UnsupportedField', path, why);
    return;
  }
  if (match.rules.has(`${pattern}.**`)) return;
  if (Array.isArray(value)) {
    const elements: readonly unknown[] = value;
    elements.forEach((element, index) => check(match, element, `${pattern}[]`, `${path}[${index}]`));
    return;
  }
  if (typeof value === 'object') {
    const entries = Object.entries(value);
    for (const [key, below] of entries) check(match, below, `${pattern}.${key}`, `${path}.${key}`);
    if (entries.length > 0 || rule || match.prefixes.has(pattern)) return;
  } else if (rule) return;
  throw failure('UnsupportedField', path, notYet);
}
