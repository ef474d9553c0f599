/** What a launcher pod asks the scheduler for. */
import { bytesToQuantity, compareQuantities, toBytes } from '../../openapi/quantity.js';
import type { ResourceRequirements } from '../../openapi/generated/types/core_v1.js';
import type {
  KubeVirtConfiguration,
  VirtualMachineInstance,
} from '../../openapi/generated/types/kubevirt_v1.js';
import type { Quantity } from '../../openapi/meta.js';
import { deviceRequests } from './devices.js';
import { memoryOverhead } from './overhead.js';
import { vcpus } from '../../openapi/cpu-topology.js';
import { guestMemory } from './topology.js';
import type { LauncherPodSettings } from './settings.js';

/** Of what the launcher writes beside the guest's disks. */
const ephemeralStorage = '50M';

/** Of the `compute` container: the guest's share, and the overhead on top. */
export function computeResources(
  vmi: VirtualMachineInstance,
  settings: LauncherPodSettings,
): ResourceRequirements {
  const { configuration } = settings;
  const { cpu, memory, resources } = vmi.spec.domain;
  const requests: Record<string, Quantity> = {
    'ephemeral-storage': ephemeralStorage,
    ...resources?.requests,
    cpu: cpuRequest(vmi, configuration),
    ...memoryRequest(vmi, configuration),
    ...deviceRequests(vmi, settings),
  };
  const limits: Record<string, Quantity> = { ...resources?.limits, ...deviceRequests(vmi, settings) };
  if (resources?.limits?.memory !== undefined)
    limits.memory = bytesToQuantity(toBytes(resources.limits.memory) + launcherOverhead(vmi, configuration));
  Object.assign(limits, automaticLimits(vmi, requests, settings));
  // Kubernetes takes no request of these that is not the limit as well.
  const pages = memory?.hugepages && `hugepages-${memory.hugepages.pageSize ?? ''}`;
  if (pages !== undefined && requests[pages] !== undefined) limits[pages] = requests[pages];
  if (cpu?.dedicatedCpuPlacement === true) {
    // The kubelet gives processors of their own to pods whose requests are their limits.
    if (requests.cpu !== undefined) limits.cpu = requests.cpu;
    if (requests.memory !== undefined) limits.memory = requests.memory;
  }
  return { requests, ...(Object.keys(limits).length === 0 ? {} : { limits }) };
}

/** For what the user has not limited. None for dedicated processors, which have limits anyway. */
function automaticLimits(
  { spec: { domain } }: VirtualMachineInstance,
  requests: Readonly<Record<string, Quantity>>,
  { automaticLimits: automatic }: LauncherPodSettings,
): Record<string, Quantity> {
  if (automatic === undefined || domain.cpu?.dedicatedCpuPlacement === true) return {};
  const { cpu: asked = 0, memory } = requests;
  const { limits } = domain.resources ?? {};
  const cores = String(vcpus(domain));
  const { memoryRatio } = automatic;
  return {
    // A user may ask for more than the guest has processors.
    ...(automatic.cpu && limits?.cpu === undefined
      ? { cpu: compareQuantities(asked, cores) > 0 ? asked : cores }
      : {}),
    ...(memoryRatio !== undefined && memory !== undefined && limits?.memory === undefined
      ? { memory: bytesToQuantity(Math.floor(toBytes(memory) * memoryRatio)) }
      : {}),
  };
}

/** Whether the pod is to be of the class Guaranteed: then the requests of all its containers are their limits. */
export function isGuaranteed(vmi: VirtualMachineInstance, settings: LauncherPodSettings): boolean {
  const { requests = {}, limits = {} } = computeResources(vmi, settings);
  return ['cpu', 'memory'].every((name) => {
    const [request, limit] = [requests[name], limits[name]];
    return request !== undefined && limit !== undefined && compareQuantities(request, limit) === 0;
  });
}

/** Of a container beside `compute`, which is there for `type`. */
export function supportResources(
  type: string,
  { supportContainerResources = [] }: KubeVirtConfiguration,
  guaranteed: boolean,
): ResourceRequirements {
  const asked = supportContainerResources.find((entry) => entry.type === type);
  if (asked !== undefined) return asked.resources;
  const limits = { cpu: '10m', memory: '40M' };
  const requests = guaranteed ? limits : { cpu: '1m', memory: '1M' };
  return { requests: { ...requests, 'ephemeral-storage': ephemeralStorage }, limits };
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
  const overhead = resources?.overcommitGuestOverhead === true ? 0 : launcherOverhead(vmi, configuration);
  const pages = memory?.hugepages?.pageSize;
  if (pages === undefined) return { memory: bytesToQuantity(backed + overhead) };
  return { [`hugepages-${pages}`]: bytesToQuantity(guest), memory: bytesToQuantity(overhead) };
}

/** Bytes. */
export function launcherOverhead(vmi: VirtualMachineInstance, configuration: KubeVirtConfiguration): number {
  return memoryOverhead(vmi, guestMemory(vmi.spec.domain), configuration);
}
