/** How the virtual CPUs of an instancetype become sockets, cores and threads, as a preference wants it. */
import type { VirtualMachinePreferenceSpec } from '../generated/types/kubevirt_instancetype_v1beta1.js';
import type { CPUTopology } from '../generated/types/kubevirt_v1.js';

export const cpuTopologies = ['sockets', 'cores', 'threads', 'spread', 'any'] as const;
export type PreferredCpuTopology = (typeof cpuTopologies)[number];

export const spreadAcross = ['SocketsCores', 'CoresThreads', 'SocketsCoresThreads'] as const;
export type SpreadAcross = (typeof spreadAcross)[number];

/** Words of an earlier release, still understood. */
export const deprecatedCpuTopologies: Readonly<Record<string, PreferredCpuTopology>> = {
  preferSockets: 'sockets',
  preferCores: 'cores',
  preferThreads: 'threads',
  preferSpread: 'spread',
  preferAny: 'any',
};

const defaultRatio = 2;
/** No CPU has more. */
const threadsPerCore = 2;

/** Sockets unless the preference says otherwise. Undefined if its word is none that is known. */
export function preferredTopology(
  preference: VirtualMachinePreferenceSpec | undefined,
): PreferredCpuTopology | undefined {
  const word = preference?.cpu?.preferredCPUTopology ?? 'sockets';
  if (Object.hasOwn(deprecatedCpuTopologies, word)) return deprecatedCpuTopologies[word];
  return cpuTopologies.find((each) => each === word);
}

export interface Spread {
  /** As the preference has it: validation refuses all but those of `spreadAcross`. */
  readonly across: string;
  /** Cores a socket, or threads a core. */
  readonly ratio: number;
}

export function spreadOf(preference: VirtualMachinePreferenceSpec | undefined): Spread {
  const options = preference?.cpu?.spreadOptions;
  const ratios = [options?.ratio, preference?.preferSpreadSocketToCoreRatio];
  return {
    across: options?.across ?? 'SocketsCores',
    ratio: ratios.find((ratio) => ratio !== undefined && ratio > 0) ?? defaultRatio,
  };
}

/** How many virtual CPUs a spread needs a multiple of. */
export function spreadUnit({ across, ratio }: Spread): number {
  return across === 'SocketsCoresThreads' ? threadsPerCore * ratio : ratio;
}

/** The topology of a guest with so many virtual CPUs. */
export function topologyOf(
  vcpus: number,
  preference: VirtualMachinePreferenceSpec | undefined,
): Required<CPUTopology> {
  const single = { sockets: 1, cores: 1, threads: 1 };
  if (vcpus <= 1) return single;
  switch (preferredTopology(preference)) {
    case 'cores':
      return { ...single, cores: vcpus };
    case 'threads':
      return { ...single, threads: vcpus };
    case 'spread':
      return { ...single, ...spreadOver(vcpus, spreadOf(preference)) };
    case 'sockets':
    case 'any':
    case undefined:
      return { ...single, sockets: vcpus };
  }
}

function spreadOver(vcpus: number, { across, ratio }: Spread): CPUTopology {
  const quotient = Math.floor(vcpus / spreadUnit({ across, ratio }));
  switch (across) {
    case 'CoresThreads':
      return { threads: ratio, cores: quotient };
    case 'SocketsCoresThreads':
      return { threads: threadsPerCore, cores: ratio, sockets: quotient };
    default:
      return { cores: ratio, sockets: quotient };
  }
}
