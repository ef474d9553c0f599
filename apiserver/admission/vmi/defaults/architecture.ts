/** What a guest's architecture decides: machine type, CPU model, disk bus, ACPI, firmware, watchdog. */
import type {
  DomainSpec,
  KubeVirtConfiguration,
  VirtualMachineInstanceSpec,
} from '../../../../openapi/generated/types/kubevirt_v1.js';

type Architecture = 'amd64' | 'arm64' | 's390x';

interface ArchitectureDefaults {
  readonly diskBus: string;
  readonly cpuModel: string | undefined;
  readonly acpi: boolean;
  /** CPU sockets and memory can be added to a running guest. */
  readonly hotplug: boolean;
  readonly watchdog: 'i6300esb' | 'diag288' | undefined;
}

const byArchitecture: Readonly<Record<Architecture, ArchitectureDefaults>> = {
  amd64: { diskBus: 'sata', cpuModel: undefined, acpi: true, hotplug: true, watchdog: 'i6300esb' },
  arm64: { diskBus: 'virtio', cpuModel: 'host-passthrough', acpi: true, hotplug: false, watchdog: undefined },
  s390x: { diskBus: 'virtio', cpuModel: undefined, acpi: false, hotplug: true, watchdog: 'diag288' },
};

export function architectureDefaults(architecture: string | undefined): ArchitectureDefaults {
  return Object.hasOwn(byArchitecture, architecture ?? '')
    ? byArchitecture[architecture as Architecture]
    : byArchitecture.amd64;
}

/** Sets the cluster's default architecture, if it has one, where the spec names none. */
export function setArchitecture(spec: { architecture?: string }, configuration: KubeVirtConfiguration): void {
  const architecture = configuration.architectureConfiguration?.defaultArchitecture ?? '';
  if ((spec.architecture ?? '') === '' && architecture !== '') spec.architecture = architecture;
}

function defaultMachineType(
  configuration: KubeVirtConfiguration,
  architecture: string | undefined,
): string | undefined {
  if (configuration.machineType !== undefined && configuration.machineType !== '')
    return configuration.machineType;
  const machines = configuration.architectureConfiguration;
  switch (architecture) {
    case 'arm64':
      return machines?.arm64?.machineType;
    case 's390x':
      return machines?.s390x?.machineType;
    case 'ppc64le':
      return machines?.ppc64le?.machineType ?? machines?.amd64?.machineType;
    default:
      return machines?.amd64?.machineType;
  }
}

export function setMachineType(spec: VirtualMachineInstanceSpec, configuration: KubeVirtConfiguration): void {
  const machine = (spec.domain.machine ??= { type: '' });
  if (machine.type === '') machine.type = defaultMachineType(configuration, spec.architecture) ?? '';
}

/** arm64 guests boot from UEFI, without secure boot unless they ask for it. */
export function setBootloader(spec: VirtualMachineInstanceSpec): void {
  if (spec.architecture !== 'arm64') return;
  const firmware = (spec.domain.firmware ??= {});
  const bootloader = (firmware.bootloader ??= { efi: {} });
  if (bootloader.efi !== undefined) bootloader.efi.secureBoot ??= false;
}

export function setWatchdog(spec: VirtualMachineInstanceSpec): void {
  const watchdog = spec.domain.devices.watchdog;
  if (watchdog === undefined) return;
  const kind = architectureDefaults(spec.architecture).watchdog;
  if (kind === undefined) return;
  const device = (watchdog[kind] ??= {});
  if (device.action === undefined || device.action === '') device.action = 'reset';
}

/** Whether the machine has PCIe root ports that devices can be added to. */
export function supportsPcieHotplug(architecture: string | undefined, domain: DomainSpec): boolean {
  if (!['amd64', 'arm64', ''].includes(architecture ?? '')) return false;
  const type = domain.machine?.type;
  return type === undefined || type.includes('q35') || type.startsWith('virt');
}
