/** What a preference gives an instance where the VM and its instancetype leave something open. */
import type {
  FirmwarePreferences,
  VirtualMachinePreferenceSpec,
} from '../../generated/types/kubevirt_instancetype_v1beta1.js';
import type {
  Bootloader,
  CPUFeature,
  FeatureHyperv,
  VirtualMachineInstanceSpec,
} from '../../generated/types/kubevirt_v1.js';
import { prefer, type Draft } from '../draft.js';
import { applyDevices } from './devices.js';

export function applyPreference(
  preference: VirtualMachinePreferenceSpec,
  { spec, annotations }: Draft,
): void {
  applyCpuFeatures(preference.cpu?.preferredCPUFeatures, spec);
  applyDevices(preference, spec);
  applyFeatures(preference, spec);
  applyFirmware(preference.firmware, spec);
  applyClock(preference, spec);
  applyMachineType(preference, spec);
  applyArchitecture(preference, spec);
  prefer(spec, 'subdomain', preference.preferredSubdomain);
  prefer(spec, 'terminationGracePeriodSeconds', preference.preferredTerminationGracePeriodSeconds);
  prefer(spec.domain, 'launchSecurity', preference.preferredLaunchSecurity);
  for (const [name, value] of Object.entries(preference.annotations ?? {})) annotations[name] ??= value;
}

export function applyArchitecture(
  { preferredArchitecture }: VirtualMachinePreferenceSpec,
  spec: VirtualMachineInstanceSpec,
): void {
  prefer(spec, 'architecture', preferredArchitecture);
}

export function applyMachineType(
  { machine }: VirtualMachinePreferenceSpec,
  { domain }: VirtualMachineInstanceSpec,
): void {
  const type = machine?.preferredMachineType ?? '';
  if (type !== '') prefer((domain.machine ??= { type: '' }), 'type', type);
}

function applyCpuFeatures(
  preferred: readonly CPUFeature[] = [],
  { domain }: VirtualMachineInstanceSpec,
): void {
  const own = domain.cpu?.features ?? [];
  const added = preferred.filter(({ name }) => !own.some((feature) => feature.name === name));
  if (added.length > 0) domain.cpu = { ...domain.cpu, features: [...own, ...structuredClone(added)] };
}

function applyFeatures(
  { features: preferred }: VirtualMachinePreferenceSpec,
  { domain }: VirtualMachineInstanceSpec,
): void {
  if (preferred === undefined) return;
  const features = (domain.features ??= {});
  // `acpi: {}` is how clients written in Go leave it out.
  if (features.acpi?.enabled === undefined && preferred.preferredAcpi !== undefined)
    features.acpi = structuredClone(preferred.preferredAcpi);
  prefer(features, 'apic', preferred.preferredApic);
  prefer(features, 'kvm', preferred.preferredKvm);
  prefer(features, 'pvspinlock', preferred.preferredPvspinlock);
  prefer(features, 'smm', preferred.preferredSmm);
  if (preferred.preferredHyperv !== undefined) {
    const hyperv: FeatureHyperv = { ...structuredClone(preferred.preferredHyperv), ...features.hyperv };
    features.hyperv = hyperv;
  }
}

/** BIOS or UEFI is chosen as a whole; only what the chosen one leaves open is completed. */
function applyFirmware(
  preferred: FirmwarePreferences | undefined,
  { domain }: VirtualMachineInstanceSpec,
): void {
  if (preferred === undefined) return;
  const own = domain.firmware?.bootloader;
  const chosen =
    own?.bios === undefined && own?.efi === undefined ? preferredBootloader(preferred) : structuredClone(own);
  if (chosen === undefined) return;
  if (chosen.bios !== undefined) prefer(chosen.bios, 'useSerial', preferred.preferredUseBiosSerial);
  // preferredEfi says it all, and takes the place of the older members.
  if (chosen.efi !== undefined && preferred.preferredEfi === undefined)
    prefer(chosen.efi, 'secureBoot', preferred.preferredUseSecureBoot);
  domain.firmware = { ...domain.firmware, bootloader: chosen };
}

function preferredBootloader(preferred: FirmwarePreferences): Bootloader | undefined {
  if (preferred.preferredUseBios === true) return { bios: {} };
  if (preferred.preferredEfi !== undefined) return { efi: structuredClone(preferred.preferredEfi) };
  return preferred.preferredUseEfi === true ? { efi: {} } : undefined;
}

function applyClock(
  { clock: preferred }: VirtualMachinePreferenceSpec,
  { domain }: VirtualMachineInstanceSpec,
): void {
  if (preferred === undefined) return;
  const clock = (domain.clock ??= {});
  // An offset is one thing, though it has two members.
  if (clock.utc === undefined && clock.timezone === undefined)
    Object.assign(clock, structuredClone(preferred.preferredClockOffset));
  prefer(clock, 'timer', preferred.preferredTimer);
}
