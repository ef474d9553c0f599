import type { VirtualMachineInstance } from '../../../openapi/generated/types/kubevirt_v1.js';

type Spec = VirtualMachineInstance['spec'];
type Domain = Spec['domain'];

/**
 * The record has lost objects without fields (`sev: {}`) where they were below another one. What a row's domain shows must
 * have been there is put back.
 */
const restored: readonly (readonly [rows: readonly number[], put: (domain: Domain) => Domain])[] = [
  [[29], (domain) => withDevices(domain, { downwardMetrics: {} })],
  [[61, 62, 63], (domain) => withDevices(domain, { clientPassthrough: {} })],
  [[66, 67, 68], (domain) => ({ ...domain, memory: { ...domain.memory, hugepages: {} } })],
  [[77, 78, 79], (domain) => ({ ...domain, cpu: { ...domain.cpu, numa: { guestMappingPassthrough: {} } } })],
  [
    [2, 3, 4, 5, 6, 7, 8, 69, 70, 71, 72, 73, 74, 75, 76],
    (domain) => withFeatures(domain, { acpi: {}, smm: {} }),
  ],
  [[27], (domain) => ({ ...domain, cpu: {} })],
  [[104], (domain) => withFeatures(domain, { hyperv: { vapic: {} } })],
  [[105], (domain) => withFeatures(domain, { hyperv: { synictimer: { direct: {} } } })],
  [[106], (domain) => withFeatures(domain, { hyperv: { synictimer: {} } })],
  [[107], (domain) => withFeatures(domain, { hyperv: { vapic: {}, synictimer: { direct: {} } } })],
  [[142], (domain) => ({ ...domain, cpu: { ...domain.cpu, realtime: {} } })],
  [
    [147, 152, 153, 155, 157],
    (domain) => ({ ...domain, firmware: { ...domain.firmware, bootloader: { efi: {} } } }),
  ],
  [[177], (domain) => ({ ...domain, launchSecurity: { sev: {} } })],
  [[179], (domain) => ({ ...domain, launchSecurity: { snp: {} } })],
  [[185], (domain) => ({ ...domain, launchSecurity: { tdx: {} } })],
];

const withDevices = (domain: Domain, more: Partial<Domain['devices']>): Domain => ({
  ...domain,
  devices: { ...domain.devices, ...more },
});

const withFeatures = (domain: Domain, more: Domain['features']): Domain => ({
  ...domain,
  features: { ...domain.features, ...more },
});

export function lostFields(row: number, spec: Spec): Spec {
  const puts = restored.filter(([rows]) => rows.includes(row)).map(([, put]) => put);
  return { ...spec, domain: puts.reduce((domain, put) => put(domain), spec.domain) };
}
