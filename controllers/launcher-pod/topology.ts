/** How many processors and how much memory the guest sees. */
import { toBytes, toUnits } from '../../openapi/quantity.js';
import type { CPUTopology, DomainSpec } from '../../openapi/generated/types/kubevirt_v1.js';

/** Admission gives every VMI its memory; this is for one that came without. */
const leastMemory = 8 * 1024 ** 2;

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

/** Bytes of memory that the guest sees. */
export function guestMemory({ memory, resources }: DomainSpec): number {
  const quantity = memory?.guest ?? resources?.requests?.memory ?? resources?.limits?.memory;
  return quantity === undefined ? leastMemory : toBytes(quantity);
}
