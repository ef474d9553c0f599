import type { Disk, VirtualMachineInstance } from '../../openapi/generated/types/kubevirt_v1.js';
import { failure } from '../errors.js';
import { topology, vcpus } from './cpu.js';

/** Which of the machine's I/O threads serves what; threads count from 1. */
export interface IoThreads {
  readonly count: number;
  /** By disk name. Disks that are not here are served by QEMU's main loop. */
  readonly disks: ReadonlyMap<string, number>;
  /** Of the SCSI controller, where a SCSI disk asks for a thread. */
  readonly scsiController: number | undefined;
}

/** Threads that `auto` allows for each virtual CPU. */
const threadsPerCpu = 2;

export const ioThreadId = (thread: number) => `iothread${thread}`;

const isOn = ({ disk, lun, cdrom }: Disk, bus: string) => (disk ?? lun ?? cdrom)?.bus === bus;

/**
 * A pool of threads comes first, in turn to the virtio disks that have none of their own; the threads of the others come
 * after it. `shared`: a pool of one. `auto`: as large as two threads for each CPU allow. `supplementalPool`: as large
 * as the spec says. Without a policy there are threads only where a disk asks for its own; then the others share one.
 */
export function ioThreads({ spec }: Pick<VirtualMachineInstance, 'spec'>): IoThreads {
  const { domain } = spec;
  const virtio = (domain.devices.disks ?? []).filter((disk) => isOn(disk, 'virtio'));
  const own = virtio.filter(({ dedicatedIOThread }) => dedicatedIOThread);
  const others = virtio.filter(({ dedicatedIOThread }) => !dedicatedIOThread);
  const scsi = (domain.devices.disks ?? []).some((disk) => isOn(disk, 'scsi') && disk.dedicatedIOThread);
  const pool = poolSize(domain, own.length, others.length, scsi);
  const disks = new Map<string, number>();
  if (pool > 0) others.forEach(({ name }, index) => disks.set(name, (index % pool) + 1));
  if (domain.ioThreadsPolicy === 'supplementalPool') {
    own.forEach(({ name }, index) => disks.set(name, ((others.length + index) % pool) + 1));
    return { count: pool, disks, scsiController: scsi ? 1 : undefined };
  }
  own.forEach(({ name }, index) => disks.set(name, pool + 1 + index));
  return { count: pool + own.length, disks, scsiController: scsi ? 1 : undefined };
}

function poolSize(
  domain: VirtualMachineInstance['spec']['domain'],
  own: number,
  others: number,
  scsi: boolean,
): number {
  switch (domain.ioThreadsPolicy) {
    case undefined:
      return own > 0 || scsi ? 1 : 0;
    case 'shared':
      return 1;
    case 'auto':
      return Math.max(1, Math.min(others, threadsPerCpu * vcpus(topology(domain)) - own));
    case 'supplementalPool': {
      const count = domain.ioThreads?.supplementalPoolThreadCount ?? 0;
      if (count > 0) return count;
      const path = 'spec.domain.ioThreads.supplementalPoolThreadCount';
      throw failure('InvalidField', path, 'the policy supplementalPool needs at least one thread');
    }
    default: {
      const why = `${domain.ioThreadsPolicy} is not one of auto, shared, supplementalPool`;
      throw failure('InvalidField', 'spec.domain.ioThreadsPolicy', why);
    }
  }
}
