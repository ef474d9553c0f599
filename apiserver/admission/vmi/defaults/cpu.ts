/** CPU topology, model, and how many sockets may be added later. */
import type { Quantity } from '../../../../openapi/meta.js';
import type {
  CPU,
  KubeVirtConfiguration,
  VirtualMachineInstanceSpec,
} from '../../../../openapi/generated/types/kubevirt_v1.js';
import { compareQuantities, toUnits } from '../../../../openapi/quantity.js';
import { architectureDefaults } from './architecture.js';

/** More than any machine type takes. */
const maximumVcpus = 512;
/** What the configuration's cpuRequest is when nobody set it: then requests are left alone. */
const standardCpuRequest = '100m';

export function setCpuRequest(spec: VirtualMachineInstanceSpec, configuration: KubeVirtConfiguration): void {
  const resources = (spec.domain.resources ??= {});
  const limit = resources.limits?.['cpu'];
  if (isSome(limit) && !isSome(resources.requests?.['cpu'])) {
    resources.requests = { ...resources.requests, cpu: limit };
  }
  const configured = configuration.cpuRequest ?? standardCpuRequest;
  if (configured === standardCpuRequest || resources.requests?.['cpu'] !== undefined) return;
  if (spec.domain.cpu?.dedicatedCpuPlacement === true) return;
  resources.requests = { ...resources.requests, cpu: configured };
}

/** Without a topology the guest gets a socket for each CPU that it requests: sockets perform best and can be hotplugged. */
export function setTopology(spec: VirtualMachineInstanceSpec): void {
  const cpu = (spec.domain.cpu ??= {});
  if (isSet(cpu.cores) || isSet(cpu.sockets) || isSet(cpu.threads)) return;
  const { limits, requests } = spec.domain.resources ?? {};
  const cpus = limits?.['cpu'] ?? requests?.['cpu'];
  cpu.sockets = cpus === undefined ? 1 : toUnits(cpus);
  cpu.cores = 1;
  cpu.threads = 1;
}

export function setModel(spec: VirtualMachineInstanceSpec, configuration: KubeVirtConfiguration): void {
  const cpu = (spec.domain.cpu ??= {});
  if (isSet(cpu.model)) return;
  const forArchitecture = architectureDefaults(spec.architecture).cpuModel;
  const configured = isSet(configuration.cpuModel) ? configuration.cpuModel : undefined;
  cpu.model = forArchitecture ?? configured ?? 'host-model';
}

export function setMaximumSockets(
  spec: VirtualMachineInstanceSpec,
  configuration: KubeVirtConfiguration,
): void {
  const cpu = spec.domain.cpu;
  if (cpu === undefined || isSet(cpu.maxSockets)) return;
  const maximum = maximumSockets(cpu, configuration);
  if (maximum > 0) cpu.maxSockets = maximum;
}

function maximumSockets(cpu: CPU, configuration: KubeVirtConfiguration): number {
  const { maxCpuSockets = 0, maxHotplugRatio = 1 } = configuration.liveUpdateConfiguration ?? {};
  const sockets = cpu.sockets ?? 0;
  if (maxCpuSockets > 0) return Math.max(maxCpuSockets, sockets);
  const vcpusPerSocket = (cpu.cores ?? 0) * (cpu.threads ?? 0);
  const wanted = sockets * maxHotplugRatio;
  if (wanted * vcpusPerSocket <= maximumVcpus) return wanted;
  return Math.max(Math.floor(maximumVcpus / vcpusPerSocket), sockets);
}

const isSome = (quantity: Quantity | undefined): quantity is Quantity =>
  quantity !== undefined && compareQuantities(quantity, 0) !== 0;

const isSet = (value: number | string | undefined): boolean =>
  value !== undefined && value !== 0 && value !== '';
