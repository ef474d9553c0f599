/** What an instancetype gives an instance. It decides: where the VM says something of its own, they conflict. */
import type { VirtualMachineInstancetypeSpec } from '../generated/types/kubevirt_instancetype_v1beta1.js';
import type { CPU, Memory, VirtualMachineInstanceSpec } from '../generated/types/kubevirt_v1.js';
import { formatQuantity, parseQuantity } from '../quantity.js';
import type { Draft } from './draft.js';

/** Something that both the VM and its instancetype set. */
export interface Conflict {
  /** From the template or instance: `spec.domain.cpu.cores`, `metadata.annotations[a]`. */
  readonly field: string;
  /** What the VM says there. */
  readonly value: unknown;
}

/** Which fields an instancetype takes over. */
interface Claim {
  readonly field: string;
  readonly own: (spec: VirtualMachineInstanceSpec) => unknown;
  readonly claimed: (instancetype: VirtualMachineInstancetypeSpec) => unknown;
}

const always = (): true => true;

const claims: readonly Claim[] = [
  { field: 'nodeSelector', own: (spec) => spec.nodeSelector, claimed: (type) => type.nodeSelector },
  { field: 'schedulerName', own: (spec) => spec.schedulerName, claimed: (type) => type.schedulerName },
  ...(['requests', 'limits'] as const).flatMap((side) =>
    (['cpu', 'memory'] as const).map((resource) => ({
      field: `domain.resources.${side}.${resource}`,
      own: (spec: VirtualMachineInstanceSpec) => spec.domain.resources?.[side]?.[resource],
      claimed: always,
    })),
  ),
  ...(['sockets', 'cores', 'threads'] as const).map((key) => cpuClaim(key, always)),
  cpuClaim('model', ({ cpu }) => cpu.model),
  cpuClaim('dedicatedCpuPlacement', ({ cpu }) => cpu.dedicatedCPUPlacement !== undefined),
  cpuClaim('isolateEmulatorThread', ({ cpu }) => cpu.isolateEmulatorThread !== undefined),
  cpuClaim('numa', ({ cpu }) => cpu.numa),
  cpuClaim('realtime', ({ cpu }) => cpu.realtime),
  memoryClaim('guest', always),
  memoryClaim('hugepages', ({ memory }) => memory.hugepages),
  memoryClaim('maxGuest', ({ memory }) => memory.maxGuest),
  {
    field: 'domain.ioThreads.supplementalPoolThreadCount',
    own: (spec) => spec.domain.ioThreads?.supplementalPoolThreadCount,
    claimed: (type) => type.ioThreads?.supplementalPoolThreadCount,
  },
  {
    field: 'domain.ioThreadsPolicy',
    own: (spec) => spec.domain.ioThreadsPolicy,
    claimed: (type) => type.ioThreadsPolicy,
  },
  {
    field: 'domain.launchSecurity',
    own: (spec) => spec.domain.launchSecurity,
    claimed: (type) => type.launchSecurity,
  },
  { field: 'domain.devices.gpus', own: (spec) => spec.domain.devices.gpus, claimed: (type) => type.gpus },
  {
    field: 'domain.devices.hostDevices',
    own: (spec) => spec.domain.devices.hostDevices,
    claimed: (type) => type.hostDevices,
  },
];

function cpuClaim(key: keyof CPU, claimed: Claim['claimed']): Claim {
  return { field: `domain.cpu.${key}`, own: (spec) => spec.domain.cpu?.[key], claimed };
}

function memoryClaim(key: keyof Memory, claimed: Claim['claimed']): Claim {
  return { field: `domain.memory.${key}`, own: (spec) => spec.domain.memory?.[key], claimed };
}

/** Zero, false and empty are how clients written in Go say nothing. */
function says(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return value !== undefined && value !== '' && value !== 0 && value !== false;
}

/** Every field that the draft must leave to the instancetype, but does not. */
export function conflictsWith(instancetype: VirtualMachineInstancetypeSpec, draft: Draft): Conflict[] {
  const ofSpec = claims
    .filter(({ own, claimed }) => says(own(draft.spec)) && says(claimed(instancetype)))
    .map(({ field, own }) => ({ field: `spec.${field}`, value: own(draft.spec) }));
  const ofAnnotations = Object.entries(instancetype.annotations ?? {}).flatMap(([name, value]) => {
    const own = draft.annotations[name];
    return own === undefined || own === value ? [] : [{ field: `metadata.annotations[${name}]`, value: own }];
  });
  return [...ofSpec, ...ofAnnotations];
}

/** Gives a draft without conflicts what the instancetype has, but for the CPU topology. */
export function applyInstancetype(instancetype: VirtualMachineInstancetypeSpec, draft: Draft): void {
  const { gpus, hostDevices, ioThreads, ioThreadsPolicy, launchSecurity, nodeSelector, schedulerName } =
    structuredClone(instancetype);
  const { spec } = draft;
  const { domain } = spec;
  Object.assign(spec, defined({ nodeSelector, schedulerName }));
  Object.assign(domain, defined({ ioThreadsPolicy, launchSecurity }));
  Object.assign(domain.devices, defined({ gpus, hostDevices }));
  if (ioThreads?.supplementalPoolThreadCount !== undefined)
    domain.ioThreads = { ...domain.ioThreads, ...ioThreads };
  applyCpu(instancetype, spec);
  applyMemory(instancetype, spec);
  for (const [name, value] of Object.entries(instancetype.annotations ?? {}))
    draft.annotations[name] ??= value;
}

function applyCpu({ cpu }: VirtualMachineInstancetypeSpec, { domain }: VirtualMachineInstanceSpec): void {
  const { model, dedicatedCPUPlacement, isolateEmulatorThread, maxSockets, numa, realtime } =
    structuredClone(cpu);
  domain.cpu = {
    ...domain.cpu,
    ...defined({ model, isolateEmulatorThread, maxSockets, numa, realtime }),
    ...defined({ dedicatedCpuPlacement: dedicatedCPUPlacement }),
  };
}

function applyMemory(
  { memory }: VirtualMachineInstancetypeSpec,
  { domain }: VirtualMachineInstanceSpec,
): void {
  const { guest, hugepages, maxGuest, overcommitPercent = 0 } = structuredClone(memory);
  domain.memory = { ...domain.memory, guest, ...defined({ hugepages, maxGuest }) };
  if (overcommitPercent <= 0) return;
  const { nanos, format } = parseQuantity(guest);
  const unit = 1_000_000_000n;
  const requested = ((nanos / unit) * BigInt(100 - overcommitPercent)) / 100n;
  const memoryRequest = formatQuantity({ nanos: requested * unit, format });
  domain.resources = {
    ...domain.resources,
    requests: { ...domain.resources?.requests, memory: memoryRequest },
  };
}

/** Without the members that say nothing, which must not take the place of others. */
function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => says(value))) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
