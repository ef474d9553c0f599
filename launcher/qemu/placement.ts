import { failure } from '../errors.js';
import { parseCpuList } from './host.js';
import { topology, vcpus } from './cpu.js';
import { ioThreadId, ioThreads } from './io-threads.js';
import type { MachineContext } from './model.js';

/** Which of the node's CPUs the threads of QEMU run on. */
export interface CpuPlacement {
  /** The CPU of each virtual CPU. */
  readonly vcpus: readonly number[];
  /** By the id of the I/O thread. */
  readonly ioThreads: ReadonlyMap<string, readonly number[]>;
  /** Of all other threads; undefined: wherever the pod may run. */
  readonly emulator: readonly number[] | undefined;
  /** Virtual CPUs that nothing else of the node may interrupt. */
  readonly realtime: readonly number[];
}

/**
 * A CPU of the node for each virtual one, in ascending order; then one for each thread of a supplemental I/O pool; what the
 * pod has beyond these is the emulator's, where its threads are to be isolated.
 */
export function cpuPlacement({ vmi, host }: Pick<MachineContext, 'vmi' | 'host'>): CpuPlacement | undefined {
  const { domain } = vmi.spec;
  const { cpu } = domain;
  if (!cpu?.dedicatedCpuPlacement) return undefined;
  const guest = vcpus(topology(domain));
  const { count } = ioThreads(vmi);
  const pool = domain.ioThreadsPolicy === 'supplementalPool' ? count : 0;
  const extra = cpu.isolateEmulatorThread ? 1 : 0;
  const needed = guest + pool + extra;
  if (host.cpus.length < needed) {
    const why = `the machine needs ${needed} CPUs of its own, and its pod may run on ${host.cpus.length}; the node's CPU manager must have the policy static`;
    throw failure('UnsupportedField', 'spec.domain.cpu.dedicatedCpuPlacement', why);
  }
  const emulator = cpu.isolateEmulatorThread ? host.cpus.slice(guest + pool) : undefined;
  const threads = new Map<string, readonly number[]>();
  for (let thread = 1; thread <= count; thread++) {
    const own = pool > 0 ? host.cpus.slice(guest + thread - 1, guest + thread) : emulator;
    if (own) threads.set(ioThreadId(thread), own);
  }
  return {
    vcpus: host.cpus.slice(0, guest),
    ioThreads: threads,
    emulator,
    realtime: cpu.realtime ? masked(guest, cpu.realtime.mask) : [],
  };
}

/** The virtual CPUs of a mask such as `0-3,^1`; all of them without one. */
function masked(count: number, mask: string | undefined): number[] {
  const all = Array.from({ length: count }, (_, index) => index);
  if (mask === undefined || mask === '') return all;
  if (!/^\^?\d+(-\d+)?(,\^?\d+(-\d+)?)*$/.test(mask)) {
    const why = `${mask} is not a list of virtual CPUs such as 0-3,^1`;
    throw failure('InvalidField', 'spec.domain.cpu.realtime.mask', why);
  }
  const words = mask.split(',');
  const listed = words.filter((word) => !word.startsWith('^')).flatMap(parseCpuList);
  const without = words.filter((word) => word.startsWith('^')).flatMap((word) => parseCpuList(word.slice(1)));
  return all.filter((cpu) => listed.includes(cpu) && !without.includes(cpu));
}
