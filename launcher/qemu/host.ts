import { readdirSync, readFileSync } from 'node:fs';

export interface NumaNode {
  readonly id: number;
  readonly cpus: readonly number[];
}

/** What of its node a machine may use. */
export interface Host {
  /** The CPUs that this pod may run on, ascending. */
  readonly cpus: readonly number[];
  readonly numaNodes: readonly NumaNode[];
  /** The variables of the pod, by which device plugins say what they have allocated. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const nodesFolder = '/sys/devices/system/node';

export function readHost(environment: NodeJS.ProcessEnv): Host {
  const allowed = /^Cpus_allowed_list:\s*(.*)$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  return { cpus: parseCpuList(allowed?.[1] ?? ''), numaNodes: readNumaNodes(), environment };
}

function readNumaNodes(): NumaNode[] {
  let names: string[];
  try {
    names = readdirSync(nodesFolder);
  } catch {
    // A kernel without NUMA has no such folder: one node with every CPU.
    return [];
  }
  const ids = names.flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  return ids
    .sort((a, b) => a - b)
    .map((id) => ({ id, cpus: parseCpuList(readFileSync(`${nodesFolder}/node${id}/cpulist`, 'utf8')) }));
}

/** The kernel's list format: `0-3,8`. */
export function parseCpuList(list: string): number[] {
  return list
    .trim()
    .split(',')
    .filter((word) => word !== '')
    .flatMap((word) => {
      const [first = NaN, last = first] = word.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
}
