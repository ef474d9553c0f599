/** How many processors a guest sees. */
import type { CPUTopology, DomainSpec } from './generated/types/kubevirt_v1.js';
import { toUnits } from './quantity.js';

export function cpuTopology({ cpu, resources }: DomainSpec): Required<CPUTopology> {
  if (cpu?.cores !== undefined || cpu?.sockets !== undefined || cpu?.threads !== undefined)
    return { cores: cpu.cores ?? 1, sockets: cpu.sockets ?? 1, threads: cpu.threads ?? 1 };
  const asked = resources?.limits?.cpu ?? resources?.requests?.cpu;
  return { cores: 1, sockets: asked === undefined ? 1 : Math.max(1, toUnits(asked)), threads: 1 };
}

export function vcpus(domain: DomainSpec): number {
  const { cores, sockets, threads } = cpuTopology(domain);
  return cores * sockets * threads;
}
