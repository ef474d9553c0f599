import { field, type FieldRule } from './field-rule.js';

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
  field('domain.cpu.cores', '`-smp cores`'),
  field('domain.cpu.sockets', '`-smp sockets`'),
  field('domain.cpu.threads', '`-smp threads`'),
  field('domain.cpu.maxSockets', '`-smp maxcpus`'),
  field('domain.cpu.model', '`-cpu`'),
  field('domain.cpu.features[].name', '`-cpu` properties'),
  field('domain.cpu.features[].policy', '`-cpu` properties: `disable` and `forbid` are off, the others on'),
  field('domain.cpu.dedicatedCpuPlacement', "each vCPU's thread pinned to a CPU of the pod"),
  field('domain.cpu.isolateEmulatorThread', 'the other threads pinned to CPUs of their own'),
  field('domain.cpu.numa.guestMappingPassthrough', '`-numa node`, `-object memory-backend-*,host-nodes`'),
  field('domain.cpu.realtime', '`-overcommit mem-lock=on`, `-machine mem-merge=off`, `-cpu pmu=off`'),
  field('domain.cpu.realtime.mask', 'vCPU threads scheduled first in, first out'),
  field('domain.memory.guest', '`-m size`'),
  field('domain.memory.maxGuest', '`-m maxmem`'),
  field('domain.memory.hugepages', '`-object memory-backend-memfd,hugetlb=on`, `-numa node`'),
  field('domain.memory.hugepages.pageSize', '`-object memory-backend-memfd,hugetlbsize`'),
  field('domain.memory.reservedOverhead.**', 'resources of the launcher pod'),
  field('domain.resources.**', '`-m` and `-smp` where memory and cpu give no size; resources of the pod'),
  field('domain.ioThreadsPolicy', '`-object iothread`, `-device iothread`'),
  field('domain.ioThreads.supplementalPoolThreadCount', '`-object iothread`, as many'),
];

const platform = [
  field('domain.machine.type', '`-machine type`'),
  field('domain.rebootPolicy', '`-action reboot`'),
  field('domain.chassis.**', '`-smbios type=3`'),
  field('domain.firmware.uuid', '`-uuid`, `-smbios type=1`'),
  field('domain.firmware.serial', '`-smbios type=1`'),
  field('domain.firmware.acpi.slicNameRef', '`-acpitable sig=SLIC`'),
  field('domain.firmware.acpi.msdmNameRef', '`-acpitable sig=MSDM`'),
  field('domain.firmware.bootloader.bios', "SeaBIOS, QEMU's own"),
  field('domain.firmware.bootloader.bios.useSerial', '`-machine graphics=off`'),
  field('domain.firmware.bootloader.efi', '`-machine pflash0,pflash1`'),
  field('domain.firmware.bootloader.efi.secureBoot', '`-global cfi.pflash01,property=secure`, keys enrolled'),
  field('domain.firmware.bootloader.efi.persistent', 'the variables lie in the persistent state'),
  field('domain.firmware.kernelBoot.kernelArgs', '`-append`'),
  field('domain.firmware.kernelBoot.container.**', '`-kernel`, `-initrd`'),
  field('domain.features.acpi.enabled', '`-machine acpi`'),
  field('domain.features.apic.enabled', 'always there', (value) =>
    value === false ? 'q35 machines always have an APIC' : undefined,
  ),
  field('domain.features.apic.endOfInterrupt', '`-cpu kvm-pv-eoi`'),
  field('domain.features.smm.enabled', '`-machine smm`'),
  field('domain.features.hyperv.**', '`-cpu hv-*`'),
  field('domain.features.hypervPassthrough.enabled', '`-cpu hv-passthrough`'),
  field('domain.features.kvm.hidden', '`-cpu kvm`'),
  field('domain.features.pvspinlock.enabled', '`-cpu kvm-pv-unhalt`'),
  field('domain.clock.timezone', '`-rtc base=localtime`'),
  field('domain.clock.utc.**', '`-rtc base`'),
  field('domain.clock.timer.hpet.present', '`-machine hpet`'),
  field('domain.clock.timer.hpet.tickPolicy', 'QEMU has one policy for it', (value) =>
    value === 'delay' ? undefined : 'the HPET of QEMU has only the tick policy delay',
  ),
  field('domain.clock.timer.pit.present', '`-machine pit`'),
  field('domain.clock.timer.pit.tickPolicy', '`-global kvm-pit.lost_tick_policy`', (value) =>
    value === 'delay' || value === 'discard'
      ? undefined
      : 'the PIT has only the tick policies delay and discard',
  ),
  field('domain.clock.timer.rtc.present', 'always there', (value) =>
    value === false ? 'q35 machines always have a real-time clock' : undefined,
  ),
  field('domain.clock.timer.rtc.tickPolicy', '`-rtc driftfix`'),
  field('domain.clock.timer.rtc.track', '`-rtc clock`'),
  field('domain.clock.timer.kvm.present', '`-cpu kvmclock`'),
  field('domain.clock.timer.hyperv.present', '`-cpu hv-time`'),
  field('domain.launchSecurity.sev.policy.encryptedState', '`-object sev-guest,policy`'),
  field('domain.launchSecurity.sev.session', '`-object sev-guest,session-file`'),
  field('domain.launchSecurity.sev.dhCert', '`-object sev-guest,dh-cert-file`'),
  field('domain.launchSecurity.sev', '`-object sev-guest`'),
  field(
    'domain.launchSecurity.sev.attestation',
    'with `startStrategy: Paused`: the owner measures, then unpauses',
  ),
  field('domain.launchSecurity.snp', '`-object sev-snp-guest` (QEMU 9.1)'),
  field('domain.launchSecurity.tdx', '`-object tdx-guest` (QEMU 10.1)'),
];

const roleTag = 'device roles are not told to the guest';
const claims = 'no device is allocated by resource claim; name a deviceName';
const refuseWith = (why: string) => () => why;

const hostDevices = ['gpus', 'hostDevices'].flatMap((kind) => [
  field(`domain.devices.${kind}[].name`, '`-device` id'),
  field(`domain.devices.${kind}[].deviceName`, '`-device vfio-pci`, of what the device plugin gave the pod'),
  field(`domain.devices.${kind}[].claimName`, 'refused', refuseWith(claims)),
  field(`domain.devices.${kind}[].requestName`, 'refused', refuseWith(claims)),
  field(`domain.devices.${kind}[].tag`, 'refused', refuseWith(roleTag)),
]);

const devices = [
  field('domain.devices.autoattachGraphicsDevice', '`-device VGA`, `-vnc`'),
  field('domain.devices.autoattachInputDevice', '`-device usb-tablet`'),
  field('domain.devices.autoattachMemBalloon', '`-device virtio-balloon`'),
  field('domain.devices.autoattachPodInterface', '`-netdev`, `-device`'),
  field('domain.devices.autoattachSerialConsole', '`-device isa-serial`'),
  field('domain.devices.autoattachVSOCK', '`-device vhost-vsock-pci`'),
  field('domain.devices.blockMultiQueue', '`-device virtio-blk,num-queues`'),
  field('domain.devices.networkInterfaceMultiqueue', '`-netdev tap,queues`, `-device virtio-net,mq=on`'),
  field('domain.devices.clientPassthrough', '`-device qemu-xhci`, four `-device usb-redir`'),
  field('domain.devices.disableHotplug', 'whether there is a `-device virtio-scsi` without disks'),
  field('domain.devices.downwardMetrics', '`-device virtserialport,name=org.github.vhostmd.1`'),
  field('domain.devices.filesystems[].name', '`-device vhost-user-fs-pci,tag`'),
  field(
    'domain.devices.filesystems[].virtiofs',
    '`-device vhost-user-fs-pci`, virtiofsd (before 1.0: needs user namespaces)',
  ),
  field('domain.devices.useVirtioTransitional', '`-device virtio-*-transitional`'),
  field('domain.devices.logSerialConsole', 'the guest console log'),
  field('domain.devices.rng', '`-device virtio-rng`'),
  field('domain.devices.sound.name', '`-device` id'),
  field('domain.devices.sound.model', '`-device ich9-intel-hda`, `AC97`'),
  field('domain.devices.video.type', '`-device VGA`, `virtio-vga` …'),
  field('domain.devices.inputs[].**', '`-device usb-tablet`, `virtio-keyboard-pci` …'),
  field('domain.devices.panicDevices[].model', '`-device pvpanic`, `-cpu hv-crash`'),
  field('domain.devices.watchdog.name', '`-device` id'),
  field('domain.devices.watchdog.i6300esb', '`-device i6300esb`'),
  field('domain.devices.watchdog.i6300esb.action', '`-action watchdog`'),
  field('domain.devices.watchdog.diag288.**', 'refused', refuseWith('only s390x machines have a diag288')),
  field('domain.devices.tpm', '`-device tpm-tis`, swtpm'),
  field('domain.devices.tpm.enabled', '`-device tpm-tis`, swtpm'),
  field('domain.devices.tpm.persistent', '`-device tpm-crb`; its state lies in the persistent state'),
  ...hostDevices,
  field('domain.devices.gpus[].virtualGPUOptions.display.enabled', '`-device vfio-pci,display`'),
  field(
    'domain.devices.gpus[].virtualGPUOptions.display.ramFB.enabled',
    '`-device vfio-pci-nohotplug,ramfb`',
  ),
];

const disks = [
  field('domain.devices.disks[].name', '`-blockdev node-name`'),
  field('domain.devices.disks[].disk', '`-device`'),
  field('domain.devices.disks[].disk.bus', '`-device virtio-blk`, `scsi-hd`, `ide-hd`, `usb-storage`'),
  field('domain.devices.disks[].disk.readonly', '`-blockdev read-only`'),
  field(
    'domain.devices.disks[].disk.pciAddress',
    '`-device bus,addr`, on a bus of that number behind a `pxb-pcie`',
  ),
  field('domain.devices.disks[].cdrom', '`-device ide-cd`; without a volume there is no medium in it'),
  field('domain.devices.disks[].cdrom.bus', '`-device ide-cd`, `scsi-cd`'),
  field('domain.devices.disks[].cdrom.readonly', 'a medium is never written, whatever it says'),
  field('domain.devices.disks[].cdrom.tray', '`blockdev-open-tray` before the guest runs'),
  field('domain.devices.disks[].lun', '`-device scsi-block`'),
  field('domain.devices.disks[].lun.bus', '`-device scsi-block`'),
  field('domain.devices.disks[].lun.readonly', '`-blockdev read-only`'),
  field('domain.devices.disks[].lun.reservation', '`-object pr-manager-helper`, `-blockdev pr-manager`'),
  field('domain.devices.disks[].bootOrder', '`-device bootindex`'),
  field('domain.devices.disks[].serial', '`-device serial`'),
  field('domain.devices.disks[].cache', '`-blockdev cache`, `-device write-cache`'),
  field('domain.devices.disks[].io', '`-blockdev aio`'),
  field('domain.devices.disks[].errorPolicy', '`-device werror,rerror`'),
  field('domain.devices.disks[].shareable', '`-device share-rw`'),
  field('domain.devices.disks[].dedicatedIOThread', '`-object iothread`, `-device iothread`'),
  field('domain.devices.disks[].blockSize.custom.**', '`-device logical_block_size,physical_block_size`'),
  field('domain.devices.disks[].blockSize.matchVolume.enabled', "the same, with the volume's own sizes"),
  field('domain.devices.disks[].blockSize.matchVolume', "the same, with the volume's own sizes"),
  field(
    'domain.devices.disks[].changedBlockTracking',
    'may be false: incremental backups alone would need it',
    (value) => (value === false ? undefined : 'there are no incremental backups that would need it'),
  ),
  field('domain.devices.disks[].tag', 'refused', refuseWith(roleTag)),
];

const othersNetwork = 'the pod has no network of this kind';

const interfaces = [
  field('domain.devices.interfaces[].name', '`-netdev id`'),
  field('domain.devices.interfaces[].masquerade', '`-netdev tap`, in user mode `-netdev user`'),
  field('domain.devices.interfaces[].bridge', '`-netdev tap`, in user mode `-netdev user`'),
  field('domain.devices.interfaces[].slirp', '`-netdev user`'),
  field('domain.devices.interfaces[].sriov', '`-device vfio-pci`, of what the device plugin gave the pod'),
  field('domain.devices.interfaces[].binding.name', '`-netdev tap`, of what the plugin made'),
  field('domain.devices.interfaces[].macvtap', 'refused', refuseWith(othersNetwork)),
  field('domain.devices.interfaces[].passt', '`-netdev stream`, of passt'),
  field('domain.devices.interfaces[].passtBinding', '`-netdev stream`, of passt'),
  field('domain.devices.interfaces[].model', '`-device virtio-net`, `e1000` …'),
  field('domain.devices.interfaces[].macAddress', '`-device mac`'),
  field('domain.devices.interfaces[].bootOrder', '`-device bootindex`, with its boot ROM'),
  field('domain.devices.interfaces[].acpiIndex', '`-device acpi-index`'),
  field(
    'domain.devices.interfaces[].pciAddress',
    '`-device bus,addr`, on a bus of that number behind a `pxb-pcie`',
  ),
  field(
    'domain.devices.interfaces[].ports[].**',
    "rules of the pod's network, or passt's; user mode lets none in",
  ),
  field(
    'domain.devices.interfaces[].portRanges[].**',
    "rules of the pod's network, or passt's; user mode lets none in",
  ),
  field('domain.devices.interfaces[].dhcpOptions.bootFileName', '`-netdev user,bootfile`'),
  field('domain.devices.interfaces[].dhcpOptions.tftpServerName', '`-netdev user,tftp-server-name`'),
  field('domain.devices.interfaces[].dhcpOptions.ntpServers[]', "the DHCP server's of a tap network"),
  field('domain.devices.interfaces[].dhcpOptions.privateOptions[].**', "the DHCP server's of a tap network"),
  field('domain.devices.interfaces[].state', '`set_link` before the guest runs; `absent`: left out'),
  field('domain.devices.interfaces[].tag', 'refused', refuseWith(roleTag)),
  field('networks[].name', '`-netdev id`'),
  field('networks[].pod', '`-netdev`'),
  field('networks[].pod.vmNetworkCIDR', '`-netdev user,net`'),
  field('networks[].pod.vmIPv6NetworkCIDR', '`-netdev user,ipv6-net`'),
  field('networks[].multus.**', '`-netdev tap`, of what the pod has on that network'),
  field('networks[].resourceClaim.**', 'refused', refuseWith(claims)),
];

const volumes = [
  field('volumes[].name', '`-blockdev node-name`'),
  ...['cloudInitConfigDrive', 'cloudInitNoCloud'].map((kind) =>
    field(`volumes[].${kind}.**`, '`-blockdev`: an ISO 9660 image that the launcher writes'),
  ),
  ...['configMap', 'downwardAPI', 'secret', 'serviceAccount', 'sysprep'].map((kind) =>
    field(`volumes[].${kind}.**`, '`-blockdev`: an ISO 9660 image of its files; or a shared directory'),
  ),
  field('volumes[].containerDisk.**', '`-blockdev`: an overlay over the image'),
  field('volumes[].ephemeral.**', '`-blockdev`: an overlay over the claim'),
  field('volumes[].emptyDisk.**', '`-blockdev`: a qcow2 file'),
  field(
    'volumes[].persistentVolumeClaim.**',
    "`-blockdev`: the claim's device or file; or a shared directory",
  ),
  field('volumes[].dataVolume.**', "`-blockdev`: the claim's device or file; or a shared directory"),
  field('volumes[].hostDisk.**', "`-blockdev`: the node's file"),
  field('volumes[].downwardMetrics', '`-blockdev`: a file of metrics that the launcher keeps up to date'),
  field('volumes[].memoryDump.**', 'where a dump goes, not for QEMU at its start'),
  field(
    'volumes[].containerPath.**',
    'refused',
    refuseWith('virtiofsd cannot keep the guest from writing to directories of the container'),
  ),
];

/** Every field of a VMI's spec. Whatever is not here is refused. */
export const fieldRules: readonly FieldRule[] = [
  ...elsewhere,
  ...cpuAndMemory,
  ...platform,
  ...devices,
  ...disks,
  ...interfaces,
  ...volumes,
  field('accessCredentials[].sshPublicKey.**', 'cloud-init public keys, or the guest agent'),
  field('accessCredentials[].userPassword.**', 'the guest agent'),
  field('hostname', 'cloud-init local-hostname'),
  field('startStrategy', 'paused after the start; `-boot menu=on`', (value) =>
    value === 'Paused' ? undefined : 'only Paused is known',
  ),
  field('terminationGracePeriodSeconds', 'time between power button and kill'),
];
