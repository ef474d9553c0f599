import { failure } from '../errors.js';
import type { MachineContext } from './model.js';
import { cpuPlacement } from './placement.js';

export interface NumaCell {
  readonly id: number;
  /** Virtual CPUs. */
  readonly cpus: readonly number[];
  /** Bytes. */
  readonly size: number;
  /** The node's NUMA node from which its memory is taken; undefined: from any. */
  readonly hostNode: number | undefined;
}

/**
 * A cell for each of the node's NUMA nodes that the virtual CPUs are pinned to, so that the guest sees which memory is near
 * to which CPU. Each gets an equal share of the memory, in whole pages of `pageSize` bytes.
 */
export function numaCells(context: MachineContext, memory: number, pageSize: number): NumaCell[] {
  const path = 'spec.domain.cpu.numa.guestMappingPassthrough';
  const placement = cpuPlacement(context);
  if (!placement) throw failure('InvalidField', path, 'it needs dedicatedCpuPlacement');
  const pinned = placement.vcpus;
  const used = context.host.numaNodes
    .map(({ id, cpus }) => ({
      id,
      guest: pinned.flatMap((cpu, index) => (cpus.includes(cpu) ? [index] : [])),
    }))
    .filter(({ guest }) => guest.length > 0);
  if (used.length === 0) throw failure('UnsupportedField', path, 'this node does not tell its NUMA nodes');
  const pages = memory / pageSize;
  if (!Number.isInteger(pages)) {
    const why = `the memory of ${memory} bytes is no whole number of pages of ${pageSize} bytes`;
    throw failure('InvalidField', 'spec.domain.memory.hugepages.pageSize', why);
  }
  const share = Math.floor(pages / used.length);
  return used.map(({ id, guest }, index) => ({
    id: index,
    cpus: guest,
    size: (share + (index < pages % used.length ? 1 : 0)) * pageSize,
    hostNode: id,
  }));
}
