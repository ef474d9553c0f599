/** What a launcher pod asks the scheduler for. */
import { vcpus } from '../../openapi/cpu-topology.js';
import { bytesToQuantity, toBytes } from '../../openapi/quantity.js';
import type { ResourceRequirements } from '../../openapi/generated/types/core_v1.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { Quantity } from '../../openapi/meta.js';
import { memoryOverhead } from './overhead.js';
import { guestMemory } from './topology.js';

/** Of the `compute` container: the guest's share, and the overhead on top. */
export function computeResources(
  vmi: VirtualMachineInstance,
  configuration: KubeVirtConfiguration,
): ResourceRequirements {
  const { resources } = vmi.spec.domain;
  const requests: Record<string, Quantity> = {
    ...resources?.requests,
    cpu: cpuRequest(vmi, configuration),
    ...memoryRequest(vmi, configuration),
    ...deviceRequests(vmi),
  };
  const limits: Record<string, Quantity> = { ...resources?.limits, ...deviceRequests(vmi) };
  if (resources?.limits?.memory !== undefined)
    limits.memory = bytesToQuantity(toBytes(resources.limits.memory) + overheadOf(vmi, configuration));
  if (vmi.spec.domain.cpu?.dedicatedCpuPlacement === true)
    limits.cpu = requests.cpu ?? vcpus(vmi.spec.domain);
  return { requests, ...(Object.keys(limits).length === 0 ? {} : { limits }) };
}

/** Dedicated processors are whole; others are shared by `cpuAllocationRatio` virtual ones. */
function cpuRequest(vmi: VirtualMachineInstance, configuration: KubeVirtConfiguration): Quantity {
  const { cpu, resources } = vmi.spec.domain;
  const count = vcpus(vmi.spec.domain);
  if (cpu?.dedicatedCpuPlacement === true)
    return String(count + (cpu.isolateEmulatorThread === true ? 1 : 0));
  if (resources?.requests?.cpu !== undefined) return resources.requests.cpu;
  if (cpu === undefined && configuration.cpuRequest !== undefined) return configuration.cpuRequest;
  const ratio = configuration.developerConfiguration?.cpuAllocationRatio ?? 1;
  return `${Math.ceil((count * 1000) / Math.max(1, ratio))}m`;
}

function memoryRequest(
  vmi: VirtualMachineInstance,
  configuration: KubeVirtConfiguration,
): Record<string, Quantity> {
  const { memory, resources } = vmi.spec.domain;
  const guest = guestMemory(vmi.spec.domain);
  const overcommit = configuration.developerConfiguration?.memoryOvercommit ?? 100;
  const asked = resources?.requests?.memory;
  const backed = asked === undefined ? Math.ceil((guest * 100) / Math.max(1, overcommit)) : toBytes(asked);
  const overhead = resources?.overcommitGuestOverhead === true ? 0 : overheadOf(vmi, configuration);
  const pages = memory?.hugepages?.pageSize;
  if (pages === undefined) return { memory: bytesToQuantity(backed + overhead) };
  return { [`hugepages-${pages}`]: bytesToQuantity(guest), memory: bytesToQuantity(overhead) };
}

function overheadOf(vmi: VirtualMachineInstance, configuration: KubeVirtConfiguration): number {
  return memoryOverhead(vmi, guestMemory(vmi.spec.domain), configuration);
}

/** One of each device that a device plugin hands out. */
function deviceRequests({ spec }: VirtualMachineInstance): Record<string, Quantity> {
  const { gpus = [], hostDevices = [] } = spec.domain.devices;
  const counts: Record<string, number> = {};
  for (const { deviceName } of [...gpus, ...hostDevices])
    if (deviceName !== undefined) counts[deviceName] = (counts[deviceName] ?? 0) + 1;
  return counts;
}
